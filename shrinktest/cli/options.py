"""Options generated from the signatures of tests, with help from the parameter sections of their docstrings."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from textwrap import shorten
from typing import Any

from shrinktest._docs import parameters_of
from shrinktest.cli import values

WIDTH = 110  # of the help, in letters

#: Parameters that only Python has, or that a command gives by itself.
_PYTHON_ONLY = {"names", "permutations", "propensity", "transform", "regressor", "x_given_z", "test_options", "kind",
                "test", "with_null", "interval"}  # fmt: skip
#: Options of parameters that have another name on the command line; several parameters may share an option.
SPELLED = {
    **{"rng": "seed", "n_resamples": "resamples", "n_trials": "trials", "sample_sizes": "n", "column_types": "types"},
    **{"times": "time", "kernels": "kernel", "bandwidths": "bandwidth"},
}
#: How to read values that are no text, numbers or flags.
_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("bandwidth", "bandwidth_x", "bandwidth_y", "bandwidths"), values.bandwidth),
    **dict.fromkeys(("rng", "workers", "folds"), values.count),
    **dict.fromkeys(("about", "alphas"), values.numbers),
    **dict.fromkeys(("margin", "shift"), values.number_or_word),
    **{"scale": values.scale, "column_types": values.column_types, "lags": values.lags},
    **{"n_resamples": values.resamples, "sample_sizes": values.counts, "max_memory": values.number},
}
#: How such values are typed; the rest of the help is from the docstring.
_TYPED = {
    "estimator": "kme, fkmse:lam_cov=0.3, auto (recommended) or several; see `shrinktest estimators`",
    "estimators": "kme,auto,ks_2samp,fkmse:loo=paper; kme+fkmse combines two; see `power --tests`",
    "kernel": "gaussian, laplacian, linear, polynomial, whitened:lam=0.01, second-order, depth, energy; or several",
    "bandwidth": "median, neighbours, 0.5*median, 2, one per column (3,0.5 or income=3,age=0.5), grid; repeatable",
    "scale": "sd, mad, rank, deviation, none, or one per column (1,1000 or income=1000,age=mad)",
    "column_types": "zip=category,amount=number,id=drop,day=date,size=S<M<L",
    "blocks": "column of labels: permute rows only within blocks",
    "groups": "column of labels: permute whole groups (clusters)",
    "given": "columns that are given: are the others dependent besides?",
    "covariates": "columns of both files to adjust for",
    "times": "column with the increasing times of the rows",
    "stopping": "draw fewer permutations: besag-clifford, besag-clifford:h=10 or curtailed",
    "lags": "tests at lags such as -5:5; at lag k, row t of x meets row t + k of y",
    "about": "the point: a number, or one per column such as 0.5,2",
    "rng": "makes the p-value reproducible",
    "sample_sizes": "numbers of observations, such as 20,40,80",
    "alphas": "levels, such as 0.05,0.1",
    "workers": "threads; the result does not depend on it",
}

#: Groups of the help, in its order, and what is in them; other options are in the second.
ROWS, COMPARED, DESIGN, OUTPUT, EXPERT = (
    "rows and columns", "what is compared", "design", "output", "expert",
)  # fmt: skip
_GROUPS = {
    ROWS: "columns x y z variable given given_method covariates covariate_method types scale nan_policy header sep "
    "decimal thousands date_format encoding na comment skip_rows time sort",
    DESIGN: "blocks groups paired shift lags resamples alpha alphas stopping seed trials n n_trials power ratio "
    "confidence trim",
    OUTPUT: "effect json plot html csv witness coordinates exit_code fail_if progress quiet store list tests",
    EXPERT: "gram rank max_memory workers bins largest folds tuning",
}
GROUP_OF = {name: group for group, names in _GROUPS.items() for name in names.split()}


class Parser(argparse.ArgumentParser):
    """A parser whose help has one line for each option, in groups, and whose complaints are one line."""

    examples: tuple[str, ...] = ()
    files = ""

    def error(self, message: str) -> Any:
        """Say what is wrong in one line, and exit."""
        message = re.sub(r"^argument ([^\s/]+)\S*:", r"\1", message)
        self.exit(2, f"shrinktest: error: {' '.join(message.split())}; see {self.prog} --help\n")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Return the value of an option; that of ``--na=--`` is two dashes, which argparse may take off."""
        if action.option_strings and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)

    def options(self) -> dict[str, list[tuple[str, str]]]:
        """Return options and their help, by group; those with the same help are one."""
        groups: dict[str, dict[str, list[str]]] = {ROWS: {}, COMPARED: {}, DESIGN: {}, OUTPUT: {}, EXPERT: {}}
        for action in self._actions:
            if action.option_strings and action.dest != "help":
                value = f" {action.metavar}" if action.nargs != 0 else ""
                group = groups[GROUP_OF.get(action.dest, COMPARED)]
                group.setdefault(str(action.help).replace("%%", "%"), []).append(f"{action.option_strings[0]}{value}")
        return {
            group: [(_joined(words), text) for text, words in lines.items()] for group, lines in groups.items() if lines
        }

    def format_help(self) -> str:
        """Return the help."""
        if not self.examples:
            return super().format_help()
        indent = 30
        lines = [f"usage: {self.prog} {self.files}[options]", "", str(self.description)]
        for group, options in self.options().items():
            lines.append(f"{group}:")
            lines += [f"  {typed:{indent - 3}} {clipped(text, WIDTH - indent)}" for typed, text in options]
        return "\n".join([*lines, "examples:", *(f"  {example}" for example in self.examples)]) + "\n"


def _joined(words: list[str]) -> str:
    """Return options that share their help, with the value of the last."""
    return ", ".join([*(word.partition(" ")[0] for word in words[:-1]), words[-1]])


def clipped(text: str, width: int) -> str:
    """Return as many clauses of a text as fit in a line."""
    while (
        len(text) > width and (end := max(text.rfind(mark, 0, len(text) - 1) for mark in ("; ", ", ", ": ", " ("))) > 25
    ):
        text = text[:end]
    return text if len(text) <= width else shorten(text, width, placeholder=" ...")


def taken(verbs: Iterable[Callable[..., Any]]) -> dict[str, Parameter]:
    """Return the parameters of several functions; the first that has one counts."""
    found: dict[str, Parameter] = {}
    for verb in verbs:
        found = {**signature(verb).parameters, **found}
    return found


def add_options(command: Parser, verbs: Iterable[Callable[..., Any]], leave_out: Iterable[str] = ()) -> None:
    """Add an option for every parameter of the functions that can be typed; those not typed are not passed on."""
    verbs = tuple(verbs)
    described: dict[str, tuple[str, str]] = {}
    for verb in verbs:
        described = {**parameters_of(verb), **described}
    parameters = taken(verbs)
    typed = {
        name: parameter.default
        for name, parameter in parameters.items()
        if name not in {*_PYTHON_ONLY, *leave_out, "Y"}
        and (parameter.kind is Parameter.KEYWORD_ONLY or parameter.default is not Parameter.empty)
    }
    for name in ("kernel", "bandwidth"):  # of all variables
        if f"{name}_x" in typed:
            typed.setdefault(name, None)
    for name, default in typed.items():
        option, (kind, text) = SPELLED.get(name, name), described.get(name, ("", ""))
        how: dict[str, Any] = {"dest": option, "default": argparse.SUPPRESS, "help": _help(name, kind, text, default)}
        if default is False:
            how["action"] = "store_true"
        else:
            numeric = {"int": values.count, "float": values.number}.get(re.split(r"\W", kind)[0], str)
            how |= {"type": _READERS.get(name, numeric), "metavar": _metavar(name, numeric)}
        if name.startswith("bandwidth") or name == "column_types":
            how["action"] = "append"
        command.add_argument(*dict.fromkeys(f"--{word.replace('_', '-')}" for word in (option, name)), **how)


def _metavar(name: str, numeric: Callable[[str], Any]) -> str:
    named = {"blocks": "NAME", "groups": "NAME", "times": "NAME", "given": "NAMES", "covariates": "NAMES"}
    named |= {"store": "FILE", "column_types": "TYPES", "bandwidths": "VALUE"}
    return named.get(name, "VALUE" if numeric is str and _READERS.get(name) is not values.count else "N")


def _help(name: str, kind: str, text: str, default: Any) -> str:
    """Return the help on a parameter: how it is typed, its choices, or its first sentence; and its default."""
    if name[-2:] in ("_x", "_y"):
        return f"as --{name[:-2]}, of one variable"
    if typed := _TYPED.get(SPELLED.get(name, name), _TYPED.get(name)):
        return typed
    shown = "" if default in (None, False, Parameter.empty) else f" ({default})"
    if choices := re.match(r"\{([^}]*)\}", kind):
        return f"{choices[1].replace(chr(34), '').lower()}{shown}"
    return re.split(r"(?<=[a-z\"')])[.:]\s", plain(text))[0].rstrip(".") + shown


def plain(text: str) -> str:
    """Return text without the marks of reStructuredText.

    Examples
    --------
    >>> plain("as in :func:`~shrinktest.kernels.as_kernel` with ``blocks`` (:doc:`/tables`)")
    'as in as_kernel with blocks'
    """
    text = re.sub(r" \(:doc:`[^`]*`\)|  See :doc:`[^`]*`\.?", "", text)
    text = re.sub(r":\w+:`(?:~[\w.]*\.)?([^`]*)`", r"\1", text)
    return text.replace("``", "")
