"""Exit codes of ``shrinktest``."""

RAN, DIFFERENT, WRONG, FAILED, INTERRUPTED, UNREAD = 0, 1, 2, 70, 130, 141

#: What the help says of them.
EXIT_CODES = (
    "exit codes: 0 the test ran, 1 with --exit-code if it rejects (equivalence: if it does not), 2 bad usage or input, "
    "70 an error of shrinktest itself, 130 interrupted"
)
