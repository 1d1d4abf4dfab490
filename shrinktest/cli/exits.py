"""Exit codes of ``shrinktest``."""

RAN, REJECTS, WRONG, FAILED, INTERRUPTED, UNREAD = 0, 1, 2, 70, 130, 141

#: What the help says of them.
EXIT_CODES = (
    "exit codes: 0 the test ran, 1 it rejects (with --exit-code only), 2 bad usage or input, 70 an error of shrinktest "
    "itself, 130 interrupted"
)
