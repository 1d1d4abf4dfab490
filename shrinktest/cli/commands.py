"""The commands: for each the functions that it calls, and how files become their data."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import shrinktest
from shrinktest.cli import values
from shrinktest.cli.options import SPELLED, Parser, add_options

EXIT_CODES = (
    "exit codes: 0 the test ran, 1 with --exit-code if it rejects (equivalence: if it does not) or --fail-if holds, "
    "2 bad usage or input, 70 an error of shrinktest itself, 130 interrupted"
)


@dataclass(frozen=True)
class Command:
    """A command: what it is for, the functions whose parameters are its options, its files and further options."""

    summary: str
    verbs: tuple[str, ...] = ()
    files: str = ""  # positional arguments; one that ends in ... takes any number
    options: str = ""  # that are of no function
    examples: tuple[str, ...] = ()
    data: str = "samples"  # the function of ``data`` that reads them; "variables" also if --measure is a dependence
    runner: str = "report:run_test"
    leave_out: tuple[str, ...] = ()
    closing: str = ""  # the end of the description

    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the functions of the library."""
        return tuple(getattr(shrinktest, name) for name in self.verbs)


_READING = "header sep decimal thousands date_format encoding na comment skip_rows"
_SAID = "json plot exit_code fail_if"
_AB = "Files are CSV, Parquet or npy, also patterns such as 'before/*.parquet', or - for standard input."
_ONE = "The file is CSV, Parquet or npy, or - for standard input."
_STUDY = ("progress", "test_options")

COMMANDS = {
    "compare": Command(
        "what changed between two tables, and how?", ("compare",), "A B", f"columns {_READING} {_SAID} html",
        ("shrinktest compare march.csv april.csv --html report.html",
         "shrinktest compare march.csv april.csv --types 'zip=category,amount=number' --decimal ,",
         "shrinktest compare march.parquet april.parquet --exit-code --fail-if 'auc > 0.6'"), closing=_AB),
    "two-sample": Command(
        "do two samples come from the same distribution?", ("two_sample_test",), "A B",
        f"columns {_READING} {_SAID} effect witness coordinates set bins",
        ("shrinktest two-sample before.csv after.csv --estimator auto --seed 0",
         "shrinktest two-sample before.csv after.csv --paired --effect --plot null.png",
         "shrinktest two-sample 'before/*.parquet' 'after/*.parquet' --gram rff --rank 200"), closing=_AB),
    "change": Command(
        "does a series change, and with which row?", ("change_point_test", "change_points"), "DATA",
        f"columns {_READING} {_SAID} sort several set",
        ("shrinktest change series.csv --time date --plot change.png",
         "shrinktest change series.csv --time date --sort --columns flow --shift stretches",
         "shrinktest change series.csv --several --n-changes 3"), data="rows", closing=_ONE),
    "independence": Command(
        "are two variables independent?", ("independence_test",), "DATA", f"x y {_READING} {_SAID} effect set bins",
        ("shrinktest independence table.csv --x dose --y response1,response2 --plot null.png",
         "shrinktest independence table.csv --x dose --y response --given age,site",
         "shrinktest independence series.csv --x rain --y flow --shift circular --lags -5:5"),
        data="variables", closing=_ONE),
    "k-sample": Command(
        "do several samples come from the same distribution?", ("k_sample_test",), "A...",
        f"columns {_READING} {_SAID} effect set bins",
        ("shrinktest k-sample a.csv b.csv c.csv --seed 0", "shrinktest k-sample site*.csv --comparison pooled --effect",
         "shrinktest k-sample a.csv b.csv c.csv --blocks day --fail-if 'pvalue < 0.01'"), closing=_AB),
    "joint": Command(
        "are several variables jointly independent?", ("joint_independence_test",), "DATA",
        f"variable {_READING} {_SAID} set",
        ("shrinktest joint table.csv", "shrinktest joint table.csv --variable a,b --variable c --variable d:f",
         "shrinktest joint table.csv --estimator auto --seed 0"), data="variables", closing=_ONE),
    "symmetry": Command(
        "is a distribution symmetric about a point?", ("symmetry_test",), "DATA", f"columns {_READING} {_SAID} set",
        ("shrinktest symmetry errors.csv", "shrinktest symmetry errors.csv --columns a,b --about 0.5,2",
         "shrinktest symmetry errors.csv --estimator auto --exit-code"), data="rows", closing=_ONE),
    "closer": Command(
        "which of two models, or of several, is nearer to what was observed?", ("closer_test",), "FILE...",
        f"columns x y z {_READING} {_SAID}",
        ("shrinktest closer observed.csv model_a.csv model_b.csv",
         "shrinktest closer observed.csv model_*.csv --method fdr_bh",
         "shrinktest closer table.csv --measure dependence --x income --y age --z school"), closing=_AB),
    "equivalence": Command(
        "are two samples practically the same?", ("equivalence_test",), "FILE...",
        f"columns x y {_READING} {_SAID} set",
        ("shrinktest equivalence before.csv after.csv --margin 0.05 --measure distance",
         "shrinktest equivalence before.csv after.csv --margin 0.6 --measure auc --exit-code",
         "shrinktest equivalence table.csv --x dose --y response --margin 0.1 --measure dependence"), closing=_AB),
    "columns": Command(
        "in which columns do two samples differ?", ("two_sample_test_columns",), "A B",
        f"columns {_READING} {_SAID} set bins",
        ("shrinktest columns before.csv after.csv", "shrinktest columns before.csv after.csv --method fdr_bh",
         "shrinktest columns 'before/*.parquet' 'after/*.parquet' --gram nystrom --rank 20"), closing=_AB),
    "matrix": Command(
        "which columns depend on which?", ("independence_matrix",), "DATA", f"x y {_READING} {_SAID} set",
        ("shrinktest matrix table.csv --plot heat.png", "shrinktest matrix table.csv --x a,b --y c:f --method fdr_bh",
         "shrinktest matrix table.csv --given others"), data="variables", closing=_ONE),
    "calibrate": Command(
        "does a test keep its level on data like these?", ("calibrate", "two_sample_test", "independence_test"),
        "FILE...", f"columns x y {_READING} json plot exit_code test set",
        ("shrinktest calibrate a.csv b.csv --estimator fkmse --trials 500",
         "shrinktest calibrate table.csv --x dose --y response --blocks site",
         "shrinktest calibrate a.csv b.csv --test mine:pipeline"), runner="studies:run_calibrate", closing=_AB,
        leave_out=("alpha", "covariates", "covariate_method", "lags", "store", "given_method")),
    "power": Command(
        "how often do the tests reject?", ("power_study", "two_sample_test"), "[DESIGN]",
        "list tests set csv json plot quiet",
        ("shrinktest power --list", "shrinktest power mean-shift --estimators kme,fkmse --n 20,40,80 --plot power.png",
         "shrinktest power scale-change --set dimension=20 --store study.sqlite --csv power.csv"),
        runner="studies:run_power", leave_out=_STUDY,
        closing="Interrupted with --store FILE, the same command goes on where it was."),
    "sample-size": Command(
        "how many observations does a test need?", ("solve_sample_size", "two_sample_test"), "DESIGN",
        "set json plot quiet",
        ("shrinktest sample-size mean-shift --power 0.9", "shrinktest sample-size mean-shift --set shift=0.7 --ratio 2",
         "shrinktest sample-size mean-shift --estimator ttest_ind --store plan.sqlite"),
        runner="studies:run_sample_size", leave_out=_STUDY,
        closing="Interrupted with --store FILE, the same command goes on where it was."),
    "estimators": Command("list the estimators, one line each", runner="studies:run_estimators"),
    "completion": Command("print what makes a shell complete commands and options", (), "SHELL", "",
        ("source <(shrinktest completion bash)", "source <(shrinktest completion zsh)",
         "shrinktest completion fish > ~/.config/fish/completions/shrinktest.fish"), runner="studies:run_completion"),
}  # fmt: skip

#: Parameters of tests that studies pass on.
TEST_OPTIONS = ("kernel", "bandwidth", "scale", "paired", "shift")

_FLAG: dict[str, Any] = {"action": "store_true"}
#: Options that are of no function: how they are typed, and their help.
_OPTIONS: dict[str, dict[str, Any]] = {
    "columns": {"metavar": "NAMES", "help": "such as a,b or, by position, 2:5 (all)"},
    "x": {"metavar": "NAMES", "help": "columns of the variable x, such as a,b or 2:5"},
    "y": {"metavar": "NAMES", "help": "columns of the variable y"},
    "z": {"metavar": "NAMES", "help": "columns of the variable z"},
    "variable": {"metavar": "NAMES", "action": "append", "help": "columns of one variable; repeatable (each column)"},
    "header": {"metavar": "WHETHER", "choices": ("auto", "yes", "no"),
               "help": "auto, yes or no: does the first row name the columns? (auto)"},
    "sep": {"metavar": "MARK", "type": values.separator, "aliases": ("--separator", "--delimiter"),
            "help": "character between cells, tab or space (the one in the first line)"},
    "decimal": {"metavar": "MARK", "choices": (".", ","), "help": "mark before decimals (.)"},
    "thousands": {"metavar": "MARK", "help": "mark between thousands"},
    "date_format": {"metavar": "FORMAT", "help": "how dates are written, such as %%d/%%m/%%Y (2024-03-31)"},
    "encoding": {"metavar": "NAME", "help": "such as latin-1 or utf-16 (utf-8)"},
    "na": {"metavar": "CELL", "action": "append", "help": "missing cells besides empty ones, NA and NaN; repeatable"},
    "comment": {"metavar": "MARK", "action": "append", "help": "skip lines that begin so; repeatable"},
    "skip_rows": {"metavar": "N", "type": values.count, "help": "skip lines at the beginning"},
    "sort": {**_FLAG, "help": "put the rows into the order of --time first"},
    "several": {**_FLAG, "help": "look for several changes, one after the other"},
    "set": {"metavar": "KEY=VALUE", "type": values.setting, "action": "append", "default": [],
            "help": "a parameter of the estimator (of studies: of the design), such as lam_cov=0.3; repeatable"},
    "bins": {"metavar": "N", "type": values.count, "help": "bins of rows that are permuted, of data in batches (2000)"},
    "effect": {**_FLAG, "help": "how large the difference or dependence is, with intervals"},
    "json": {**_FLAG, "help": "print JSON, whose keys are the result's attributes in Python"},
    "plot": {"metavar": "FILE", "help": "save a picture, such as null.png"},
    "html": {"metavar": "FILE", "help": "save the report as a page with pictures"},
    "csv": {"metavar": "FILE", "help": "save the table"},
    "witness": {"metavar": "FILE", "help": "save a picture of where the samples differ"},
    "coordinates": {"metavar": "NAMES", "help": "one or two columns to show in it"},
    "exit_code": {**_FLAG, "help": "exit with 1 if the test rejects (equivalence: if it does not)"},
    "fail_if": {"metavar": "'auc > 0.6'", "help": "exit with 1 if this holds of the result or its effect"},
    "test": {"metavar": "MODULE:FUNCTION", "help": "a function (X, Y) -> p-value, or such as ks_2samp (ours)"},
    "list": {**_FLAG, "help": "list the designs"},
    "tests": {**_FLAG, "help": "list the tests of other packages for --estimators"},
    "quiet": {**_FLAG, "help": "no progress bar, which only a terminal shows"},
}  # fmt: skip


def parser(words: Collection[str] = tuple(COMMANDS)) -> Parser:
    """Return the parser of ``shrinktest``; only the commands among ``words`` get their options."""
    program = Parser(
        prog="shrinktest", description="Kernel two-sample and independence tests with pluggable mean estimators.",
        epilog=EXIT_CODES, allow_abbrev=False,
    )  # fmt: skip
    program.add_argument("-V", "--version", action="version", version=f"shrinktest {shrinktest.__version__}")
    commands = program.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        found = commands.add_parser(name, help=command.summary, allow_abbrev=False)
        if name in words:
            _complete(found, command)
    commands.add_parser("help", help="show the help of a command").add_argument("topic", nargs="?")
    return program


def parsers_in(program: Parser) -> dict[str, Parser]:
    """Return the parsers of the commands by name."""
    return next(dict(action.choices) for action in program._actions if action.dest == "command")  # type: ignore


def _complete(found: Parser, command: Command) -> None:
    """Add the files and options of a command to its parser."""
    found.examples, found.files = command.examples, f"{command.files} " if command.files else ""
    found.description = f"{command.summary[0].upper()}{command.summary[1:]}\n{command.closing}".strip()
    # argparse takes a word such as -5:5 for an option, unless it looks like a negative number
    found._negative_number_matcher = re.compile(r"^-\d+(?:[:,]-?\d+)*$|^-\d*\.\d+$")
    for name in command.files.split():
        many: dict[str, Any] = {"nargs": "+"} if name.endswith("...") else {"nargs": "?"} if name[0] == "[" else {}
        found.add_argument(f"file {name.strip('.[]')}", metavar=name.strip(".[]"), **many)
    for name in command.options.split():
        how = dict(_OPTIONS[name])
        found.add_argument(f"--{name.replace('_', '-')}", *how.pop("aliases", ()), dest=name, **how)
    functions = command.functions()
    study = "DESIGN" in command.files
    add_options(found, functions[:1] if study else functions, command.leave_out)
    if study:
        own = signature(functions[1]).parameters
        add_options(found, functions[1:], [name for name in own if name not in TEST_OPTIONS])


def arguments(
    args: argparse.Namespace, parameters: dict[str, Parameter], others: Collection[str] = ()
) -> dict[str, Any]:
    """Return arguments of a function with these parameters, from what was typed.

    Raises ValueError for options of the command that are for none of them, unless they are ``others``.
    """
    typed = {name: value for name, value in vars(args).items() if value is not None or name == "scale"}
    options: dict[str, Any] = {}
    for name in parameters:
        option = SPELLED.get(name, name)
        both = re.sub("_[xy]$", "", option)
        source = option if option in typed else both
        if source in typed and source not in ("test", "types"):
            convert = _CONVERTED.get(name) or _CONVERTED.get(re.sub("(_[xy]|s)$", "", name))
            options[name] = typed[source] if convert is None else convert(typed[source])
    if "estimator" in options:
        options["estimator"] = values.estimator(options["estimator"], dict(getattr(args, "set", ())))
    elif getattr(args, "set", ()) and not others:
        raise ValueError("--set is for the estimator of --estimator; name one, such as --estimator fkmse")
    known = {SPELLED.get(name, name) for name in parameters} | {re.sub("_[xy]$", "", name) for name in parameters}
    for name in typed:
        if name not in _OPTIONS and name not in known | {*others, "command", "files", "types"} and name[:5] != "file ":
            raise ValueError(f"--{name.replace('_', '-')} is not for this test; leave it out")
    return options


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "kernel": values.kernels, "bandwidth": values.bandwidths, "stopping": values.stopping,
    "estimators": values.compared,
    "about": lambda given: given[0] if len(given) == 1 else given,
}  # fmt: skip
