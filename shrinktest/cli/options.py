"""Options generated from test signatures, with help from the docstrings' parameter sections."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from textwrap import shorten
from typing import Any

from shrinktest._docs import parameters_of
from shrinktest.cli import values

WIDTH = 110  # of the help, in letters
NAN_POLICY = "raise"  # of all commands, whatever the function has in Python

#: Parameters that only Python has, or that a command gives by itself.
_PYTHON_ONLY = {
    "names",
    "permutations",
    "propensity",
    "transform",
    "regressor",
    "x_given_z",
    "test_options",
    "kind",
    "test",
    "with_null",
    "Y",
}
#: Options of parameters that have another name on the command line; several parameters may share an
#: option.
SPELLED = {
    **{
        "rng": "seed",
        "n_resamples": "resamples",
        "n_simulations": "simulations",
        "n_trials": "trials",
        "sample_sizes": "n",
        "column_types": "types",
    },
    **{"times": "time", "kernels": "kernel", "bandwidths": "bandwidth"},
}
#: How to read values that are no text, numbers or flags, by option.
_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(
        [
            "bandwidth",
            "bandwidth_x",
            "bandwidth_y",
            "scale",
            "margin",
            "block_length",
            "about",
            "alphas",
            "n",
            "sample_ratio",
        ],
        values.value,
    ),
    **dict.fromkeys(("seed", "workers", "folds", "skip_rows", "bins", "typ"), values.count),
    **{
        "types": values.column_types,
        "lags": values.lags,
        "terms": values.joint,
        "sep": values.separator,
        "resamples": values.resamples,
    },
    **{"max_memory": values.number, "set": values.setting},
}
_REPEATED = (
    *("bandwidth", "bandwidth_x", "bandwidth_y", "types", "variable", "na", "comment", "set"),
    "terms",
)
_CHOICES = {"header": ("auto", "yes", "no"), "decimal": (".", ",")}
_ALSO = {"sep": ("--separator", "--delimiter")}
#: What stands for the value, "-" for none, and the help, of options without a parameter or with a
#: text of their own.
HELP = {
    "columns": "NAMES such as a,b or, by position, 2:5 (all)",
    "x": "NAMES columns of the variable x, such as a,b or 2:5",
    "y": "NAMES columns of the variable y",
    "z": "NAMES columns of the variable z",
    "variable": "NAMES columns of one variable; repeatable (each column)",
    "header": "WHETHER auto, yes or no: does the first row name the columns? (auto)",
    "sep": "MARK character between cells, tab or space (the one in the first line)",
    "decimal": "MARK mark before decimals (.)",
    "thousands": "MARK mark between thousands",
    "date_format": "FORMAT how dates are written, such as %%d/%%m/%%Y (2024-03-31)",
    "encoding": "NAME such as latin-1 or utf-16 (utf-8)",
    "na": "CELL missing cells besides empty ones, NA and NaN; repeatable",
    "comment": "MARK skip lines that begin so; repeatable",
    "skip_rows": "N skip lines at the beginning",
    "sort": "- put the rows into the order of --time first",
    "unordered": "- rows of a file are in no order: shuffle them",
    "state": "FILE where the monitor is kept; if it exists, no reference is named",
    "again": "- take files that were taken already a second time",
    "several": "- look for several changes, one after the other",
    "set": (
        "KEY=VALUE a parameter of the estimator (of studies: of the design), such as lam_cov=0.3; "
        "repeatable"
    ),
    "bins": "N bins of rows that are permuted, of data in batches (2000)",
    "effect": "- how large the difference or dependence is, with intervals",
    "json": "- print JSON, whose keys are the result's attributes in Python",
    "plot": "FILE save a picture, such as null.png",
    "paragraph": "- print sentences for a protocol or an article",
    "markdown": "- print Markdown, as for a comment on a pull request",
    "html": "FILE save the report as a page with pictures",
    "csv": "FILE save the table",
    "witness": "FILE save a picture of where the samples differ",
    "coordinates": "NAMES one or two columns to show in it",
    "response": "NAMES columns that the terms may explain, such as pain,mood",
    "typ": "N 2: each term adjusted for all that do not contain it; 1: for those before it (2)",
    "statistic": "VALUE robust to unequal spread, or F (robust)",
    "location": "VALUE auto: effects of the other terms are taken off the numbers first (auto)",
    "within": "VALUE of groups, rows change places, or signs of residual rows (rows)",
    "terms": "NAME=TERMS terms tested together, such as 'arm in any way=arm,arm:time'; repeatable",
    "fit": "MODULE:FUNCTION a function of the data to the parameters of the model",
    "by_column": "- every column by itself instead, with adjusted p-values",
    "pairwise": "TERM every pair of levels of one factor instead",
    "exit_code": "- exit with 1 if the test rejects (equivalence: if it does not)",
    "fail_if": "'auc>0.6' print the value, and exit with 1, if the result or its effect has this",
    "test": "MODULE:FUNCTION a function (X, Y) -> p-value, or such as ks_2samp (ours)",
    "list": "- list the designs",
    "tests": "- list the tests of other packages for --estimators",
    "quiet": "- no progress bar, which only a terminal shows",
    "estimator": (
        "VALUE kme, fkmse:lam_cov=0.3, auto (recommended) or several; see `shrinktest estimators`"
    ),
    "estimators": (
        "VALUE kme,auto,ks_2samp,fkmse:loo=paper; kme+fkmse combines two; see `power --tests`"
    ),
    "kernel": (
        "VALUE gaussian, laplacian, linear, polynomial, cosine, whitened:lam=0.01, second-order, "
        "depth, energy"
    ),
    "bandwidth": (
        "VALUE median, neighbours, 0.5*median, 2, one per column (3,0.5 or income=3,age=0.5), grid"
    ),
    "scale": (
        "VALUE sd, mad, rank, deviation, none, or one per column (1,1000 or income=1000,age=mad)"
    ),
    "types": "TYPES zip=category,amount=number,id=drop,day=date,size=S<M<L; repeatable",
    "blocks": "NAME column of labels: permute rows only within blocks",
    "groups": "NAME column of labels: permute whole groups (clusters)",
    "by": "NAME column that splits the rows",
    "sample_ratio": "VALUE planned sizes such as 1,1: a note says if the files do not fit",
    "given": "NAMES columns that are given: are the others dependent besides?",
    "covariates": "NAMES columns of both files to adjust for",
    "time": "NAME column with the increasing times of the rows",
    "stopping": "VALUE draw fewer permutations: besag-clifford, besag-clifford:h=10 or curtailed",
    "lags": "VALUE tests at lags such as -5:5; at lag k, row t of x meets row t + k of y",
    "about": "VALUE the point: a number, or one per column such as 0.5,2",
    "seed": "N makes the p-value reproducible",
    "n": "VALUE numbers of observations, such as 20,40,80",
    "alphas": "VALUE levels, such as 0.05,0.1",
    "workers": "N threads; the result does not depend on it",
    "progress": "- show a progress bar, in a terminal",
    "store": "FILE where a run is kept, so that the same command goes on with it",
}

#: Groups of the help, in its order, and what is in them; other options are in the second.
_GROUPS = {
    "rows and columns": (
        "columns by x y z variable given given_method covariates covariate_method types scale "
        "nan_policy header sep decimal thousands date_format encoding na comment skip_rows time "
        "sort top unordered again"
    ),
    "what is compared": "",
    "design": (
        "sample_ratio typ terms pairwise by_column fit simulations n_reference blocks groups "
        "within paired block_length lags resamples alpha alphas stopping seed "
        "trials n n_trials power ratio confidence trim run_length"
    ),
    "output": (
        "effect json paragraph markdown plot html csv witness coordinates exit_code fail_if "
        "progress quiet store state list tests"
    ),
    "expert": "gram rank max_memory workers bins largest folds tuning",
}


class Typed(argparse.Namespace):
    """Options of a command; None if not typed, or not an option of this command."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return None


class Parser(argparse.ArgumentParser):
    """Parser with one help line per option, in groups, and one-line complaints."""

    examples: tuple[str, ...] = ()
    files = ""

    def error(self, message: str) -> Any:
        """Say what is wrong in one line, and exit."""
        message = re.sub(r"^argument ([^\s/]+)\S*:", r"\1", message)
        self.exit(2, f"shrinktest: error: {' '.join(message.split())}; see {self.prog} --help\n")

    def format_help(self) -> str:
        """Return the help; options with the same text are one line."""
        if not self.examples:
            return super().format_help()
        group_of = {name: group for group, names in _GROUPS.items() for name in names.split()}
        groups: dict[str, dict[str, str]] = {group: {} for group in _GROUPS}
        for action in self._actions:
            if action.option_strings and action.dest != "help":
                texts = groups[group_of.get(action.dest, "what is compared")]
                text = str(action.help).replace("%%", "%")
                value = f" {action.metavar}" if action.nargs != 0 else ""
                before = f"{texts[text].partition(' ')[0]}, " if text in texts else ""
                texts[text] = f"{before}{action.option_strings[0]}{value}"
        lines = [f"usage: {self.prog} {self.files} [options]", "", str(self.description)]
        for group, texts in groups.items():
            lines += [f"{group}:"] * bool(texts)
            lines += [f"  {typed:27} {clipped(text, WIDTH - 30)}" for text, typed in texts.items()]
        return (
            "\n".join([*lines, "examples:", *(f"  {example}" for example in self.examples)]) + "\n"
        )


def clipped(text: str, width: int) -> str:
    """Return as many clauses of a text as fit in a line."""
    while len(text) > width and (end := max(map(text[:-1].rfind, ("; ", ", ", ": ", " (")))) > 25:
        text = text[:end]
    return shorten(text, width, placeholder=" ...")


def add_option(
    command: Parser,
    option: str,
    parameter: str = "",
    kind: str = "",
    text: str = "",
    standard: Any = None,
    shown: str = "",
    **how: Any,
) -> None:
    """Add an option to a command for a parameter.

    The parameter has this type, description and default in Python, if any; ``shown`` is what a
    command has in place of the entry in ``HELP``.
    """
    metavar, _, help_text = (shown or HELP.get(option, "")).partition(" ")
    numeric = {"int": values.count, "float": values.number}.get(re.split(r"\W", kind)[0], str)
    how |= {"dest": option, "help": help_text or _help(option, kind, text, standard)}
    if standard is False or metavar == "-":
        how["action"] = "store_true"
    else:
        how |= {"type": _READERS.get(option, numeric), "choices": _CHOICES.get(option)}
        how["metavar"] = metavar or (
            "VALUE" if numeric is str and how["type"] is not values.count else "N"
        )
        how["action"] = "append" if option in _REPEATED else "store"
    words = dict.fromkeys(f"--{word.replace('_', '-')}" for word in (option, parameter or option))
    command.add_argument(*words, *_ALSO.get(option, ()), **how)


def add_parameters(
    command: Parser,
    verbs: Iterable[Callable[..., Any]],
    leave_out: Iterable[str] = (),
    shown: Mapping[str, str] | None = None,
) -> None:
    """Add an option for every parameter of functions that can be typed.

    Those not typed are not passed on.
    """
    parameters: dict[str, Parameter] = {}
    described: dict[str, tuple[str, str]] = {}
    for verb in verbs:  # the first that has one counts
        parameters = {**signature(verb).parameters, **parameters}
        described = {**parameters_of(verb), **described}
    typed = {
        name: parameter.default
        for name, parameter in parameters.items()
        if name not in {*_PYTHON_ONLY, *leave_out}
        and (parameter.kind is Parameter.KEYWORD_ONLY or parameter.default is not Parameter.empty)
    }
    if "nan_policy" in typed:
        typed["nan_policy"] = NAN_POLICY
    for name in ("kernel", "bandwidth"):  # of all variables
        if f"{name}_x" in typed:
            typed.setdefault(name, None)
    for name, default in typed.items():
        kind, text = described.get(name, ("", ""))
        option = SPELLED.get(name, name)
        own = (shown or {}).get(option, "")
        add_option(command, option, name, kind, text, default, own, default=argparse.SUPPRESS)


def _help(option: str, kind: str, text: str, default: Any) -> str:
    """Return the help on a parameter: its choices, or its first sentence; and its default."""
    if option[-2:] in ("_x", "_y"):
        return f"as --{option[:-2]}, of one variable"
    shown = "" if default in (None, False, Parameter.empty) else f" ({default})"
    if choices := re.match(r"\{([^}]*)\}", kind):
        return f"{choices[1].replace(chr(34), '').lower()}{shown}"
    text = re.sub(r" \(:doc:`[^`]*`\)|  See :doc:`[^`]*`\.?", "", text)
    text = re.sub(r":\w+:`(?:~[\w.]*\.)?([^`]*)`", r"\1", text).replace("``", "")
    return re.split(r"(?<=[a-z\"')])[.:]\s", text)[0].rstrip(".") + shown
