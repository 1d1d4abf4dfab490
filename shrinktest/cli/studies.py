"""Studies: the level of a test on data like these, power, sample size.

And lists of what there is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

from shrinktest import (
    check_level,
    independence_test,
    minimum_detectable_effect,
    power_study,
    solve_sample_size,
    two_sample_test,
)
from shrinktest._check import choice
from shrinktest.cli import data, values
from shrinktest.cli.commands import (
    PILOT_OPTIONS,
    TEST_OPTIONS,
    Command,
    arguments,
    parser,
    parsers_in,
)
from shrinktest.cli.options import Typed
from shrinktest.cli.report import RAN, check_outputs, report
from shrinktest.data.delimited import TextOptions
from shrinktest.estimators import ESTIMATORS
from shrinktest.power import KNOWN_TESTS
from shrinktest.power.designs import DESIGNS, Design, FromData, as_design
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE

_BASH = """_shrinktest() {
  local words='%s'
  [ "$COMP_CWORD" != 1 ] && case "${COMP_WORDS[1]}" in
%s
  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _shrinktest shrinktest"""


def run_estimators(args: Typed, command: Command) -> int:
    """Print the estimators, one line each."""
    combined = "recommended: several of these with their own kernels, combined into one exact test"
    return _print_rows(
        [*((name, kind.summary) for name, kind in ESTIMATORS.items()), ("auto", combined)]
    )


def run_completion(args: Typed, command: Command) -> int:
    """Print a script that completes commands and their options."""
    shell = choice(args.files[0], ("bash", "zsh", "fish"), "a shell")
    options = {
        name: sorted(word for word in subparser._option_string_actions if word[:2] == "--")
        for name, subparser in parsers_in(parser()).items()
    }
    if shell == "fish":
        print(f"complete -c shrinktest -n __fish_use_subcommand -a '{' '.join(options)}'")
        for name, words in options.items():
            names = " ".join(f"-l {word[2:]}" for word in words)
            print(f"complete -c shrinktest -n '__fish_seen_subcommand_from {name}' {names}")
        return RAN
    cases = "\n".join(
        f"    {name}) words='{' '.join(words)}' ;;" for name, words in options.items()
    )
    print(
        "autoload -U +X bashcompinit && bashcompinit\n" * (shell == "zsh")
        + _BASH % (" ".join(options), cases)
    )
    return RAN


def run_check_level(args: Typed, command: Command) -> int:
    """Find the level of a test on data like these."""
    check_outputs(args)
    kind, read = data.two(args)
    test = two_sample_test if kind is TWO_SAMPLE else independence_test
    takes = dict(signature(check_level).parameters)
    options = arguments(args, {**signature(test).parameters, **takes})
    test_options = {name: options.pop(name) for name in [*options] if name not in takes}
    design = {
        name for name in ("blocks", "groups", "paired", "block_length", "given") if name in options
    }
    for name in design.difference(kind.restrictions, ("given",) if kind is INDEPENDENCE else ()):
        raise ValueError(f"--{name} is not for a test of the kind {kind.name}; leave it out")
    xy, about = read(args, options, takes)
    types = about.pop("column_types", {})
    options |= about
    if args.test is not None or "given" in options:
        xy = list(map(data.as_numbers, xy))
        types = {
            name: column_type
            for name, column_type in types.items()
            if name in options.get("given", ())
        }
    policy = options.get("nan_policy", "raise")
    pipeline: Any = args.test
    if args.test is None:
        if policy == "propagate":
            raise ValueError(
                "--nan-policy propagate leaves no p-values to count; use omit or indicator"
            )
        test_options |= {name: options[name] for name in design}
        test_options |= {
            "nan_policy": "indicator" if policy == "indicator" else "raise",
            "workers": 1,
            "rng": 0,
        }
        pipeline = partial(test, **test_options, **({"column_types": types} if types else {}))
    elif test_options:
        raise ValueError(
            f"--{next(iter(test_options))} is for the tests of this package; leave it out with "
            "--test"
        )
    elif args.test not in KNOWN_TESTS:
        pipeline = values.function(args.test, "--test")
    options["nan_policy"] = "propagate" if policy == "indicator" else policy
    return report(args, check_level(pipeline, *xy, kind=kind.name, **options))


def run_power(args: Typed, command: Command) -> int:
    """Run, or go on with, a power study."""
    if args.list or args.tests:
        named: Mapping[str, Any] = DESIGNS if args.list else KNOWN_TESTS
        width = max(map(len, KINDS))
        return _print_rows(
            [(name, f"{entry.test:{width}}  {entry.summary}") for name, entry in named.items()]
        )
    if not args.files:
        raise ValueError("name a design; `shrinktest power --list` shows them")
    return report(args, power_study(**_study(args, power_study)))


def run_sample_size(args: Typed, command: Command) -> int:
    """Find the sample size for a power."""
    return _solve(args, solve_sample_size)


def run_detectable_effect(args: Typed, command: Command) -> int:
    """Find the smallest effect that a number of observations shows."""
    if args.n is None:
        raise ValueError("--n is needed; see shrinktest detectable-effect --help")
    if len(args.files) == 1 and _is_file(args.files[0]):
        raise ValueError("pass two files of pilot data, or the name of a design")
    return _solve(args, minimum_detectable_effect)


def _solve(args: Typed, function: Any) -> int:
    """Find a size or an effect for a power, for one estimator as it was typed."""
    label = args.estimator or "kme"
    compared = values.compared(label)
    if len(compared) > 1:
        raise ValueError(f"estimator must be one; got {label}")
    args.estimator = None
    result = function(estimator=next(iter(compared.values())), **_study(args, function))
    return report(args, replace(result, estimator=label))


def _print_rows(rows: list[tuple[str, str]]) -> int:
    width = max(len(name) for name, _ in rows)
    print("\n".join(f"{name:{width}}  {text}" for name, text in rows))
    return RAN


def _study(args: Typed, function: Any) -> dict[str, Any]:
    """Return the arguments of a study; arguments of its tests are ``test_options``."""
    check_outputs(args)
    design = _design(args)
    kind = KINDS[design.test]
    typed = arguments(args, dict(signature(two_sample_test).parameters), vars(args))
    options: dict[str, Any] = {}
    for name in TEST_OPTIONS:
        names = {"kernel": kind.kernels, "bandwidth": kind.bandwidths}.get(name, (name,))
        if name in typed and not set(names) <= set(kind.options):
            raise ValueError(
                f"--{name} does not apply to {kind.described}, the test of {args.files[0]}"
            )
        options |= dict.fromkeys(names, typed[name]) if name in typed else {}
    study_options = arguments(
        args, dict(signature(function).parameters), (*TEST_OPTIONS, *PILOT_OPTIONS)
    )
    return {
        **study_options,
        "design": design,
        "test_options": options,
        "progress": bool(args.progress),
    }


def _design(args: Typed) -> Design:
    """Return the named design, or the pilot data in files.

    Pilot data are two samples, or columns of one file.
    """
    name, *others = args.files
    labels = ("groups", "blocks")
    about_files = ("columns", "x", "y", *labels, "nan_policy", *TextOptions.__annotations__)
    if not others and not _is_file(name):
        if typed := [option for option in about_files if getattr(args, option)]:
            raise ValueError(
                f"--{typed[0].replace('_', '-')} is for files of pilot data, and {name!r} is not a "
                "file"
            )
        return values.configured(as_design(name), dict(args.set or ()), name)
    if args.set:
        raise ValueError("--set is for parameters of a design, not for pilot data; leave it out")
    kind, read = data.two(args)
    options = {name: getattr(args, name) for name in labels if getattr(args, name)}
    pilot, about = read(args, options, signature(FromData).parameters)
    about |= {"nan_policy": args.nan_policy} if args.nan_policy else {}
    return FromData(pilot[0], pilot[1], kind.name, paired=bool(args.paired), **about)


def _is_file(name: str) -> bool:
    """Return True for what is not the name of a design, but looks like the name of a file."""
    return name.lower().replace("_", "-") not in DESIGNS and (
        name == "-" or "." in name or os.path.exists(name)
    )
