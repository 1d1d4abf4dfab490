"""The commands: for each the functions that it calls, and how files become their data."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

import shrinktest
from shrinktest.cli import values
from shrinktest.cli.options import NAN_POLICY, SPELLED, Parser, Typed, add_option, add_parameters

EXIT_CODES = (
    "exit codes: 0 the test ran; 1 it rejects (with --exit-code; equivalence: it does not), or the "
    "condition of --fail-if holds; 2 wrong usage or input; 70 an internal error; 130 interrupted"
)


@dataclass(frozen=True)
class Command:
    """A command: its purpose, its files, and the functions whose parameters are its options.

    It may have further options.
    """

    summary: str
    verbs: str = ""  # names of functions
    files: str = ""  # positional arguments; one that ends in ... takes any number
    options: str = ""  # that are of no function
    examples: str = ""  # of what follows the name of the command, between bars
    # the function of ``data`` that reads them; "variables" also if --measure is a dependence
    data: str = "samples"
    runner: str = "report:run_test"
    leave_out: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)  # values and help of its own; see `HELP`

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """The functions of the library."""
        return tuple(getattr(shrinktest, name) for name in self.verbs.split())

    @property
    def closing(self) -> str:
        """The end of the description."""
        if "store" in signature(self.functions[0]).parameters and "DESIGN" in self.files:
            return "DESIGN: see shrinktest power --list. With --store, an interrupted run resumes."
        return (
            "Files are CSV, Parquet or npy, patterns such as 'a/*.parquet', or - (standard input)."
            "\nDefaults are in parentheses."
        )


_AUC = "CONDITION exit with 1 if the result meets a condition, such as 'auc > 0.6'"
_STUDY = {
    "set": "KEY=VALUE parameter of the design, such as dimension=20; repeatable",
    "seed": "N seed that makes the result reproducible",
    "resamples": "N number of permutations of each test ({default})",
}
_TEXT = "header sep decimal thousands date_format encoding na comment skip_rows"
_PRINTED = "json paragraph markdown"
_READING = f"{_TEXT} {_PRINTED} plot exit_code"

COMMANDS = {
    "compare": Command(
        "what changed between two tables, and how?",
        "compare",
        "A B",
        f"columns {_READING} fail_if html",
        "march.csv april.csv --html report.html|march.csv april.csv --types "
        "'zip=category,amount=number' --decimal ,|"
        "march.parquet april.parquet --by country --sort effect --top 10 --fail-if 'auc > 0.6'",
        shown={
            "by": "NAME column: one report per value, with p-values adjusted across the reports",
            "sort": "VALUE order of the columns: pvalue, effect or column (pvalue)",
            "fail_if": _AUC,
        },
    ),
    "two-sample": Command(
        "do two samples come from the same distribution?",
        "two_sample_test",
        "A B",
        f"columns {_READING} fail_if effect witness coordinates set bins",
        "before.csv after.csv --estimator auto --seed 0|before.csv after.csv --paired --effect "
        "--plot null.png|"
        "'before/*.parquet' 'after/*.parquet' --gram rff --rank 200",
        leave_out="bins",  # of files in batches, by an option that other commands share
        shown={"fail_if": _AUC},
    ),
    "change": Command(
        "does a series change, and when?",
        "change_point_test change_points",
        "DATA",
        f"columns {_READING} fail_if sort several set",
        "series.csv --time date --plot change.png|series.csv --time date --sort --columns flow "
        "--block-length auto|"
        "series.csv --several --n-changes 3",
        "rows",
        shown={
            "confidence": (
                "N confidence level of the interval for the location of a change ({default})"
            ),
        },
    ),
    "independence": Command(
        "are two variables independent?",
        "independence_test",
        "DATA",
        f"x y {_READING} fail_if effect set bins",
        "table.csv --x dose --y response1,response2 --plot null.png|table.csv --x dose --y "
        "response --given age,site|"
        "series.csv --x rain --y flow --block-length whole --lags -5:5",
        "variables",
        shown={"rank": "N largest number of coordinates of an approximation (100 per variable)"},
    ),
    "k-sample": Command(
        "do several samples come from the same distribution?",
        "k_sample_test",
        "A...",
        f"columns {_READING} pairwise fail_if effect set bins",
        "a.csv b.csv c.csv --pairwise --seed 0|site*.csv --comparison pooled --effect|"
        "table.csv --by week --blocks day --fail-if 'pvalue < 0.01'",
        leave_out="bins",
        shown={"pairwise": "- compare all pairs of samples, with adjusted p-values"},
    ),
    "factors": Command(
        "which factors of a design affect the response?",
        "factor_test",
        "DATA FORMULA",
        f"{_TEXT} pairwise {_PRINTED} plot exit_code fail_if",
        "table.csv 'treatment * time + age' --response pain,mood --groups patient --blocks site|"
        "table.csv 'pain + mood ~ C(dose)' --pairwise 'C(dose)' --seed 0|"
        "table.csv 'pain ~ arm * age' --kernel linear --plot shares.png --exit-code",
        runner="factor_command:run_factors",
        leave_out="formula data",
        shown={"estimator": "VALUE kme, or auto, which combines several kernels ({default})"},
    ),
    "joint": Command(
        "are several variables jointly independent?",
        "joint_independence_test",
        "DATA",
        f"variable {_READING} fail_if set",
        "table.csv|table.csv --variable a,b --variable c --variable d:f|table.csv --estimator "
        "auto --seed 0",
        "variables",
    ),
    "symmetry": Command(
        "is a distribution symmetric about a point?",
        "symmetry_test",
        "DATA",
        f"columns {_READING} fail_if set",
        "errors.csv|errors.csv --columns a,b --about 0.5,2|errors.csv --estimator auto --exit-code",
        "rows",
        shown={"resamples": "N number of random sign patterns, or inf for all ({default})"},
    ),
    "fits": Command(
        "do the data fit a model that can be simulated?",
        "goodness_of_fit_test",
        "DATA MODEL",
        f"columns {_READING} by_column fail_if effect witness coordinates set",
        "data.csv mymodel:simulate --seed 0|data.csv mymodel:simulate --fit mymodel:fit "
        "--simulations 499|data.csv mymodel:simulate --by-column --plot columns.png",
        runner="fits_command:run_fits",
        leave_out="simulate",
        shown={"witness": "FILE save a picture of where data and model differ"},
    ),
    "closer": Command(
        "which of several models is closest to the data?",
        "closer_test",
        "FILE...",
        f"columns x y z {_READING} fail_if",
        "observed.csv model_a.csv model_b.csv|observed.csv model_*.csv --method fdr_bh|"
        "table.csv --measure dependence --x income --y age --z school",
        shown={
            "alpha": "N significance level ({default})",
            "paired": "- row i of the data and of all models belong together",
            "exit_code": "- exit with 1 if one model is clearly closer than another",
        },
    ),
    "equivalence": Command(
        "are two samples practically the same?",
        "equivalence_test",
        "FILE...",
        f"columns x y {_READING} fail_if set",
        "before.csv after.csv --margin 0.05 --measure distance|before.csv after.csv --margin 0.6 "
        "--measure auc|"
        "table.csv --x dose --y response --margin 0.1 --measure dependence",
        shown={
            "alpha": "N significance level; the limit has confidence 1 - alpha ({default})",
            "exit_code": "- exit with 1 if equivalence is not shown",
            "fail_if": "CONDITION exit with 1 if the result meets a condition: 'upper > 0.1'",
        },
    ),
    "columns": Command(
        "in which columns do two samples differ?",
        "two_sample_test_columns",
        "A B",
        f"columns {_READING} fail_if set bins",
        "before.csv after.csv|before.csv after.csv --method fdr_bh|"
        "'before/*.parquet' 'after/*.parquet' --gram nystrom --rank 20",
    ),
    "matrix": Command(
        "which columns depend on which?",
        "independence_matrix",
        "DATA",
        f"x y {_READING} fail_if set",
        "table.csv --plot heat.png|table.csv --x a,b --y c:f --method fdr_bh|table.csv --given "
        "others",
        "variables",
        shown={
            "given": "NAMES conditioning columns, or others: all other columns of the table",
            "block_length": "VALUE as in the command independence; it requires --y",
        },
    ),
    "monitor": Command(
        "has a stream of rows drifted away from a reference?",
        "DriftMonitor",
        "FILE...",
        f"{_TEXT} time unordered state again {_PRINTED} plot html exit_code fail_if",
        "reference.csv day1.csv day2.csv --state m.npz|day3.csv --state m.npz --exit-code|"
        "reference.csv --state m.npz --run-length 10000",
        runner="monitor_command:run_monitor",
        leave_out="scores reference",
        shown={
            "alpha": "N upper bound on the probability of ever raising a false alarm (0.05)",
            "exit_code": "- exit with 1 on an alarm",
            "fail_if": (
                "CONDITION exit with 1 if the result meets a condition, such as 'evidence > 20'"
            ),
            "seed": "N seed that makes the result reproducible",
        },
    ),
    "check-level": Command(
        "is the test valid on data like these?",
        "check_level two_sample_test independence_test",
        "FILE...",
        f"columns x y {_READING} test set",
        "a.csv b.csv --estimator fkmse --trials 500|table.csv --x dose --y response --blocks site|"
        "a.csv b.csv --test mine:pipeline",
        runner="studies:run_check_level",
        shown={
            "trials": "N number of permuted data sets ({default})",
            "seed": "N seed that makes the result reproducible",
            "exit_code": "- exit with 1 if the test rejects too often",
        },
        leave_out="alpha covariates covariate_method lags store given_method sample_ratio",
    ),
    "power": Command(
        "how often do tests reject in simulated data?",
        "power_study two_sample_test",
        "[DESIGN]",
        f"list tests set csv {_PRINTED} plot quiet",
        "--list|mean-shift --estimators kme,fkmse --n 20,40,80 --plot power.png|"
        "scale-change --set dimension=20 --store study.sqlite --csv power.csv",
        runner="studies:run_power",
        leave_out="progress test_options",
        shown=_STUDY,
    ),
    "sample-size": Command(
        "how many observations does a test need for a given power?",
        "solve_sample_size two_sample_test",
        "DESIGN|FILES...",
        f"columns x y {_TEXT} set {_PRINTED} plot quiet",
        "pilot_a.csv pilot_b.csv --power 0.9 --paragraph|pilot.csv --x dose --y response --groups "
        "patient|"
        "mean-shift --set shift=0.7 --ratio 2",
        runner="studies:run_sample_size",
        leave_out="progress test_options",
        shown={
            **_STUDY,
            "estimator": "VALUE kme, fkmse:lam_cov=0.3, kme+fkmse (combined) or auto (recommended)",
            "alpha": "N significance level ({default})",
            "confidence": "N confidence level of the interval for the sample size ({default})",
            "trials": "N data sets simulated after a rough search ({default})",
        },
    ),
    "detectable-effect": Command(
        "how small an effect does a test detect?",
        "minimum_detectable_effect two_sample_test",
        "DESIGN|FILES...",
        f"columns n {_TEXT} set json plot paragraph quiet",
        "pilot_a.csv pilot_b.csv --n 50 --paragraph|mean-shift --n 50 --set dimension=1|"
        "scale-change --n 100 --power 0.9 --estimator auto",
        runner="studies:run_detectable_effect",
        leave_out="progress test_options",
        shown={
            **_STUDY,
            "n": "N size of the first sample, or number of pairs, rows or groups",
            "estimator": "VALUE kme, fkmse:lam_cov=0.3, kme+fkmse (combined) or auto (recommended)",
            "alpha": "N significance level ({default})",
            "confidence": "N confidence level of the interval for the effect ({default})",
            "trials": "N data sets that the effect is fitted to ({default})",
        },
    ),
    "estimators": Command("list estimators of the kernel mean", runner="studies:run_estimators"),
    "warmup": Command(
        "compile all loops in advance, such as for a container image",
        runner="warmup:run_warmup",
    ),
    "completion": Command(
        "print a completion script for bash, zsh or fish",
        files="SHELL",
        runner="studies:run_completion",
    ),
}

#: Parameters of tests that studies pass on, and those about files of pilot data.
TEST_OPTIONS = ("kernel", "bandwidth", "scale", "paired", "block_length")
PILOT_OPTIONS = ("groups", "blocks", "nan_policy", "column_types")


def parser(words: Collection[str] = tuple(COMMANDS)) -> Parser:
    """Return the parser of ``shrinktest``; only the commands among ``words`` get their options."""
    program = Parser(
        prog="shrinktest",
        description="Kernel two-sample and independence tests with pluggable mean estimators.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    program.add_argument(
        "-V", "--version", action="version", version=f"shrinktest {shrinktest.__version__}"
    )
    commands = program.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(
            name, help=command.summary, description=_sentence(command.summary), allow_abbrev=False
        )
        if name in words:
            _complete(subparser, name)
    shown = commands.add_parser("help", help="show the help of a command")
    shown.add_argument("topic", nargs="?", help="name of a command")
    return program


def _sentence(summary: str) -> str:
    """Return the summary of a command with a capital."""
    return f"{summary[0].upper()}{summary[1:]}"


def parsers_in(program: Parser) -> dict[str, Parser]:
    """Return the parsers of the commands by name."""
    return next(dict(action.choices) for action in program._actions if action.dest == "command")  # type: ignore


def _complete(subparser: Parser, name: str) -> None:
    """Add the files and options of a command to its parser."""
    command = COMMANDS[name]
    for word in command.files.split():
        many: dict[str, Any] = (
            {"nargs": "+"} if word.endswith("...") else {"nargs": "?"} if word[0] == "[" else {}
        )
        about = "bash, zsh or fish" if word == "SHELL" else None
        name_shown = word.strip(".[]")
        subparser.add_argument(f"file {name_shown}", metavar=name_shown, help=about, **many)
    if not command.verbs:
        return
    subparser.examples = tuple(
        f"shrinktest {name} {example}" for example in command.examples.split("|")
    )
    subparser.files = command.files
    subparser.description = f"{_sentence(command.summary)}\n{command.closing}"
    # argparse takes a word such as -5:5 for an option, unless it looks like a negative number
    subparser._negative_number_matcher = re.compile(r"^-\d+(?:[:,]-?\d+)*$|^-\d*\.\d+$")
    for option in command.options.split():
        add_option(subparser, option, shown=command.shown.get(option, ""))
    study = "DESIGN" in command.files
    functions = command.functions[: 1 if study else None]
    add_parameters(subparser, functions, command.leave_out.split(), command.shown)
    if study:
        excluded = TEST_OPTIONS + (PILOT_OPTIONS if "FILES" in command.files else ())
        own = signature(command.functions[1]).parameters
        others = [option for option in own if option not in excluded]
        add_parameters(subparser, command.functions[1:], others, command.shown)


def arguments(
    args: Typed, parameters: Mapping[str, Parameter], others: Collection[str] = ()
) -> dict[str, Any]:
    """Return arguments of a function with these parameters, from what was typed.

    Raises ValueError for options of the command that are for none of them, unless they are
    ``others``.
    """
    typed = {
        name: value for name, value in vars(args).items() if value is not None or name == "scale"
    }
    known = {
        *others,
        *COMMANDS[args.command].options.split(),
        "command",
        "files",
        "types",
        "progress",
    }
    options: dict[str, Any] = {}
    for name in parameters:
        option = SPELLED.get(name, name)
        both = re.sub("_[xy]$", "", option)
        known |= {option, both}
        source = option if option in typed else both
        if source in typed and source not in ("test", "types"):
            convert = _CONVERTED.get(name) or _CONVERTED.get(re.sub("(_[xy]|s)$", "", name))
            options[name] = typed[source] if convert is None else convert(typed[source])
    if "nan_policy" in parameters:
        options.setdefault("nan_policy", NAN_POLICY)
    if "estimator" in options:
        options["estimator"] = values.estimator(options["estimator"], dict(args.set or ()))
    elif args.set and not others:
        raise ValueError(
            "--set is for the estimator of --estimator; name one, such as --estimator fkmse"
        )
    for name in typed:
        if name not in known and not name.startswith("file "):
            raise ValueError(f"--{name.replace('_', '-')} is not for this test; leave it out")
    return options


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "kernel": values.kernels,
    "bandwidth": values.bandwidths,
    "stopping": values.stopping,
    "estimators": values.compared,
    "alphas": values.several,
    "scale": values.several,
}
