"""Values of the library from what is typed on a command line: a name, and settings KEY=VALUE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from shrinktest._check import choice
from shrinktest.cli.arguments import OfParameter
from shrinktest.cli.values import bandwidth, setting
from shrinktest.estimators import as_estimator
from shrinktest.kernels import as_kernel
from shrinktest.multiple.ensembles import AUTO, is_auto
from shrinktest.permutations.stopping import as_stopping, rule_name

Value = TypeVar("Value")


def configured(value: Value, settings: Mapping[str, Any], name: str) -> Value:
    """``value``, an estimator or a design, with some of its parameters set.

    Raises ValueError for a parameter that it does not have; the message lists those it has and the nearest.
    """
    # what is not shown is what a test puts in
    known = [field.name for field in fields(value) if field.repr]  # type: ignore[arg-type]  # everything with a name is a dataclass
    for key in settings:
        if not known:
            raise OfParameter(f"{name} has no parameters: leave out {key}")
        choice(key, known, f"a parameter of {name}")
    try:
        changed: Value = replace(value, **settings)  # type: ignore[type-var]
    except (TypeError, ValueError) as error:  # TypeError: text where a number belongs
        raise OfParameter(str(error)) from None
    return changed


def stopping(text: str | None) -> Any:
    """A rule for stopping from such as ``curtailed`` or ``besag-clifford:h=10``."""
    if text is None:
        return None
    written, *settings = text.split(":")
    name = rule_name(written)
    if not settings:
        return name
    try:
        return configured(as_stopping(name, 0.05), dict(map(setting, settings)), name)
    except OfParameter as error:
        raise OfParameter(f"--stopping {text}: {error}") from None


def estimator(text: str, settings: Mapping[str, Any] | None = None) -> Any:
    """An estimator from such as ``fkmse:loo=paper``; a list from several with commas between them; or "auto".

    Raises ValueError for unknown names, and for ``settings`` beside several estimators.
    """
    found = [_one(part) for part in text.split(",")]
    if len(found) == 1 and found[0] != AUTO:
        return configured(found[0], settings or {}, text.split(":")[0])
    if settings:
        raise ValueError(
            f"{next(iter(settings))} is set for one estimator, and {text} is several: write it behind its name, such "
            "as fkmse:lam_cov=0.3"
        )
    return found[0] if len(found) == 1 else found


def settle_kernels(args: Any) -> None:
    """Make values of kernels that are typed with settings: ``whitened:lam=0.01``, or ``--set lam=0.01``.

    What is set is the estimator's where it has a parameter of that name, and else that of the only kernel.
    """
    asked = dict(getattr(args, "set", ())) if hasattr(args, "estimator") else {}
    mean = getattr(args, "estimator", "")
    left, of_kernels = dict(asked), {}
    for option in ("kernel", "kernel_x", "kernel_y"):
        given = getattr(args, option, None)
        if isinstance(given, list):
            setattr(args, option, [_made(one, {}) if ":" in one else one for one in given])
        if not isinstance(given, str):
            continue
        own = _parameters(given) - _parameters(mean, as_estimator)
        if given != "gaussian":
            of_kernels[given.split(":")[0]] = own - {"kernel", "points"}
        settings = {key: value for key, value in asked.items() if key in own}
        left = {key: value for key, value in left.items() if key not in settings}
        if ":" in given or settings:
            setattr(args, option, _made(given, settings, args, option.replace("kernel", "bandwidth")))
    if any(of_kernels.values()) and mean != AUTO and "," not in mean:
        known = sorted(_parameters(mean, as_estimator).union(*of_kernels.values()))
        for key in left:
            choice(key, known, f"a parameter of {' or '.join([mean.split(':')[0], *of_kernels])}")
    if hasattr(args, "estimator"):
        args.set = list(left.items())


def _made(text: str, settings: Mapping[str, Any], args: Any = None, option: str = "") -> Any:
    """The kernel that is called so, with its settings, and with the bandwidth that was typed as an ``option`` for it.

    That option is taken from the others because the kernel has it then; beside a bandwidth among the settings it stays,
    for the test to refuse.
    """
    name, *typed = text.split(":")
    settings, width = {**dict(map(setting, typed)), **settings}, "median"
    if args is not None and "bandwidth" not in settings:
        width = bandwidth(getattr(args, option, None))
        if isinstance(width, list | dict) or width == "grid":
            raise ValueError(
                f"--{option.replace('_', '-')} of a kernel with settings ({text}) is one: a number, one per column in "
                "their order such as 0.5,2, or such as 0.5*median"
            )
        setattr(args, option, None)
    return configured(as_kernel(name, width), settings, name)


def _parameters(value: Any, read: Any = as_kernel) -> set[str]:
    """Names of the parameters of what is called so; none for several, and for what is not known."""
    try:
        return {field.name for field in fields(read(value.split(":")[0] if isinstance(value, str) else value))}
    except (TypeError, ValueError):
        return set()


def estimators(text: str) -> dict[str, Any]:
    """What a study compares, by label, from such as ``kme,fkmse:loo=paper,auto,kme+fkmse,ks_2samp``."""
    labels = [label.strip() for label in text.split(",")]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"estimators holds {label!r} twice; name each once")
    # a plain name may be that of another test, which the study knows
    return {one: estimator(one.replace("+", ",")) if {"+", ":"} & set(one) else one for one in labels}


def _one(text: str) -> Any:
    name, *settings = text.strip().split(":")
    if is_auto(name) and not settings:
        return AUTO
    return configured(as_estimator(name), dict(map(setting, settings)), name)
