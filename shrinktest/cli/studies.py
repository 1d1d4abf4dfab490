"""Studies: the level of a test on data like these, power, sample size; and the list of estimators."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

from shrinktest import calibrate, independence_test, power_study, solve_sample_size, two_sample_test
from shrinktest._check import choice
from shrinktest.cli import data, values
from shrinktest.cli.commands import TEST_OPTIONS, Command, arguments, parser, parsers_in
from shrinktest.cli.report import RAN, check_outputs, report
from shrinktest.estimators import ESTIMATORS
from shrinktest.power import KNOWN_TESTS
from shrinktest.power.designs import DESIGNS, as_design
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE


def run_estimators(args: Namespace, command: Command) -> int:
    """Print the estimators, one line each."""
    width = max(map(len, ESTIMATORS))
    for name, kind in ESTIMATORS.items():
        print(f"{name:{width}}  {kind.summary}")
    print(f"{'auto':{width}}  several of these with kernels of their own, combined into one exact test: recommended")
    return RAN


def run_completion(args: Namespace, command: Command) -> int:
    """Print a script that completes commands and their options."""
    options = {
        name: sorted(word for word in found._option_string_actions if word[:2] == "--")
        for name, found in parsers_in(parser()).items()
    }
    (shell,) = args.files
    if choice(shell, ("bash", "zsh", "fish"), "a shell") == "fish":
        print(f"complete -c shrinktest -n __fish_use_subcommand -a '{' '.join(options)}'")
        for name, words in options.items():
            for word in words:
                print(f"complete -c shrinktest -n '__fish_seen_subcommand_from {name}' -l {word[2:]}")
        return RAN
    cases = "\n".join(f"    {name}) words='{' '.join(words)}' ;;" for name, words in options.items())
    print("autoload -U +X bashcompinit && bashcompinit\n" * (shell == "zsh") + _BASH % (cases, " ".join(options)))
    return RAN


_BASH = """_shrinktest() {
  local words=
  case "${COMP_WORDS[1]}" in
%s
  esac
  [ "$COMP_CWORD" = 1 ] && words='%s'
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _shrinktest shrinktest"""


def run_calibrate(args: Namespace, command: Command) -> int:
    """Find the level of a test on data like these."""
    check_outputs(args)
    if len(args.files) > 2:
        raise ValueError("give two files, or one with --x and --y")
    kind, test, read = (
        (TWO_SAMPLE, two_sample_test, data.samples) if len(args.files) == 2
        else (INDEPENDENCE, independence_test, data.variables)
    )  # fmt: skip
    if kind is TWO_SAMPLE and (args.x, args.y) != (None, None):
        raise ValueError("--x and --y are for two variables in one file; two files are two samples")
    takes = dict(signature(calibrate).parameters)
    options = arguments(args, {**signature(test).parameters, **takes})
    of_test = {name: options.pop(name) for name in [*options] if name not in takes}
    for name in ("blocks", "groups", "paired", "shift", "given"):
        if name in options and name not in (*kind.restrictions, *(("given",) if kind is INDEPENDENCE else ())):
            raise ValueError(f"--{name} is not for a test of the kind {kind.name}; leave it out")
    xy, about = read(args, options, takes)
    types = about.pop("column_types", {})
    options |= about
    if args.test is not None or "given" in options:
        xy = [data.as_numbers(one) for one in xy]
        types = {name: one for name, one in types.items() if name in options.get("given", ())}
    policy = options.get("nan_policy", "raise")
    pipeline: Any = args.test
    if args.test is None:
        if policy == "propagate":
            raise ValueError("--nan-policy propagate leaves no p-values to count; give omit or indicator")
        same = {name: options[name] for name in ("blocks", "groups", "paired", "shift", "given") if name in options}
        of_test |= {"nan_policy": "indicator" if policy == "indicator" else "raise", "workers": 1, "rng": 0}
        pipeline = partial(test, **of_test, **same, **({"column_types": types} if types else {}))
    elif of_test:
        raise ValueError(f"--{next(iter(of_test))} is for the tests of this package; leave it out with --test")
    elif args.test not in KNOWN_TESTS:
        _imported(args.test)
        pipeline = partial(_users, args.test)
    options["nan_policy"] = "propagate" if policy == "indicator" else policy
    try:
        result = calibrate(pipeline, *xy, kind=kind.name, **options)
    except TypeError as error:  # what the user's function returned
        raise ValueError(str(error)) from None
    return report(args, result)


def _imported(name: str) -> Any:
    """Return the function that is called MODULE:FUNCTION."""
    module, _, function = name.partition(":")
    if not (module and function):
        raise ValueError(f"--test must look like module:function; got {name!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # modules of the folder one is in, as with python -m
    try:
        return getattr(importlib.import_module(module), function)
    except Exception as error:  # in a file of the user's
        raise ValueError(f"--test {name}: {type(error).__name__}: {error}") from None


def _users(name: str, x: Any, y: Any) -> Any:
    """Call a function of the user's, whose failures are those of bad input."""
    try:
        return _imported(name)(x, y)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename}, line {frame.lineno}"
        raise ValueError(f"--test {name}: {type(error).__name__}: {error} ({where})") from error


def run_power(args: Namespace, command: Command) -> int:
    """Run, or go on with, a power study."""
    if args.list or args.tests:
        return _list(DESIGNS if args.list else KNOWN_TESTS)
    if not args.files:
        raise ValueError("name a design; `shrinktest power --list` shows them")
    return report(args, power_study(**_study(args, power_study)))


def run_sample_size(args: Namespace, command: Command) -> int:
    """Find the sample size for a power."""
    label = getattr(args, "estimator", "kme")
    compared = values.compared(label)
    if len(compared) > 1:
        raise ValueError(f"estimator must be one; got {label}")
    args.estimator = None
    result = solve_sample_size(estimator=next(iter(compared.values())), **_study(args, solve_sample_size))
    return report(args, replace(result, estimator=label))


def _list(named: Mapping[str, Any]) -> int:
    """Print designs, or tests, one line each."""
    width, kinds = (max(map(len, names)) for names in (named, KINDS))
    for name, entry in named.items():
        print(f"{name:{width}}  {entry.test:{kinds}}  {entry.summary}")
    return RAN


def _study(args: Namespace, function: Any) -> dict[str, Any]:
    """Return the arguments of a study; those of its tests are ``test_options``."""
    check_outputs(args)
    design = values.configured(as_design(args.files[0]), dict(args.set), args.files[0])
    kind = KINDS[design.test]
    typed = arguments(args, dict(signature(two_sample_test).parameters), vars(args))
    told: dict[str, Any] = {}
    for name in TEST_OPTIONS:
        names = {"kernel": kind.kernels, "bandwidth": kind.bandwidths}.get(name, (name,))
        if name in typed and not set(names) <= set(kind.options):
            raise ValueError(f"--{name} is not for {kind.described}, which is that of {args.files[0]}")
        told |= dict.fromkeys(names, typed[name]) if name in typed else {}
    options = arguments(args, dict(signature(function).parameters), TEST_OPTIONS)
    return {**options, "design": design, "test_options": told, "progress": bool(args.progress)}
