"""Paragraph: what was tested, how, and with which result, in sentences for an article."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from shrinktest._check import percent, to_plain
from shrinktest.kernels.bandwidths import parsed
from shrinktest.results.printing import number, shown_pvalue, without_zero

_RULES = {
    "median": "the median distance",
    "neighbors": "the median distance to the nearest tenth of the rows",
}


def paragraph(
    tested: str,
    by: str,
    details: Sequence[str],
    findings: Sequence[str],
    versions: Mapping[str, str],
    seed: str,
) -> str:
    """Return sentences on a test: what was tested and how, the findings, and the software.

    Parameters
    ----------
    tested : str
        Subject and verb, such as "The distributions of X and Y were compared".
    by : str
        The test, such as "a kernel two-sample test".
    details : sequence of str
        Statistic, estimator, kernel, permutations, and so on; empty ones are left out.
    findings : sequence of str
        Clauses without a period; empty ones are left out.
    versions, seed
        As in a result, and :func:`seed_in_words`.
    """
    known = [detail for detail in details if detail]
    how = f" ({'; '.join(known)})" if known else ""
    sentences = [f"{tested} by {by}{how}", *filter(None, findings), software(versions, seed)]
    return " ".join(map(sentence, sentences))


def sentence(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[:1].upper()}{clause[1:]}."


def software(versions: Mapping[str, str], seed: str) -> str:
    """Return the software and the seed."""
    return f"Software: shrinktest {versions['shrinktest']}{seed and f', {seed}'}"


def seed_in_words(rng: Mapping[str, Any]) -> str:
    """Return what draws the same random numbers again; empty for a result without any.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest._random import rng_provenance
    >>> generator = np.random.default_rng(7)
    >>> seed_in_words(rng_provenance(generator))
    'seed 7'
    >>> _ = generator.random()
    >>> seed_in_words(rng_provenance(generator))
    'a generator with seed 7, used before'
    """
    entropy = rng.get("entropy")
    if entropy is None:
        return f"a generator {rng['bit_generator']} in a given state" if rng else ""
    spawned = tuple(rng.get("spawn_key") or ())
    source = np.random.SeedSequence(entropy, spawn_key=spawned)
    began = to_plain(getattr(np.random, rng["bit_generator"])(source).state)
    child = f" and spawn key {spawned}" if spawned else ""
    if began == rng["state"]:
        return f"seed {entropy}{child}"
    return f"a generator with seed {entropy}{child}, used before"


def finding(hypothesis: str, name: str, statistic: float, pvalue: float, alpha: float) -> str:
    """Return whether a null hypothesis was rejected, with the statistic and the p-value.

    Examples
    --------
    >>> finding("the null hypothesis of independence", "HSIC", 0.01234, 0.002, 0.05)
    'the null hypothesis of independence was rejected at the .05 level (HSIC = 0.01234, p = .002)'
    """
    value = number(statistic, unknown="not computed")
    if math.isnan(pvalue):
        return f"no p-value was computed ({name} = {value})"
    decision = "was rejected" if pvalue <= alpha else "was not rejected"
    level = without_zero(f"{alpha:g}")
    shown = f"{name} = {value}, p = {shown_pvalue(pvalue)}"
    return f"{hypothesis} {decision} at the {level} level ({shown})"


def estimated(shown: str, limits: Sequence[str], confidence: float, *, within: bool = False) -> str:
    """Return an estimate with its interval as articles print both.

    In brackets ``within`` parentheses.

    Examples
    --------
    >>> estimated(".71", (".64", ".77"), 0.95)
    '.71 (95% CI .64 to .77)'
    """
    interval = f"{percent(confidence)} CI {limits[0]} to {limits[1]}"
    if {"nan", "-"} & {*limits}:
        interval = "no interval"
    return f"{shown} [{interval}]" if within else f"{shown} ({interval})"


def draws_in_words(
    count: int,
    moved: str,
    restriction: str = "",
    *,
    exact: bool = False,
    planned: int | None = None,
) -> str:
    """Return how many permutations of which units there were.

    Examples
    --------
    >>> draws_in_words(999, "permutations of rows", "within 8 blocks")
    '999 random permutations of rows within 8 blocks'
    >>> draws_in_words(999, "permutations of rows", "120 whole groups within 8 blocks")
    '999 random permutations of 120 whole groups within 8 blocks'
    >>> draws_in_words(35, "permutations of rows", exact=True)
    'all 35 permutations of rows'
    """
    what = f"{moved} {restriction}".strip()
    if "shifts" in restriction:
        what = restriction
    elif restriction == "by the model" and moved != "simulations":
        what = "draws of labels by the model"
    elif restriction.startswith("signs"):
        what = f"changes of the {restriction}"
    elif restriction and not restriction.startswith(("within", "by ")):
        what = f"permutations of {restriction}"
    if not count:
        return f"no {what}"
    if exact:
        return f"all {count} {what}"
    most = f", of at most {planned}" if planned is not None and planned > count else ""
    random = "" if what.startswith(("simulations", "data sets")) else "random "
    return f"{count} {random}{what}{most}"


# --- kernels --------------------------------------------------------------------------------------


def kernel_in_words(kernel: Any, given: Any) -> str:
    """Return a kernel with its bandwidth, and the rule that found it.

    ``kernel`` is None for several tests, each with a bandwidth of its own; ``given`` is the kernel
    as the user gave it.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> kernel_in_words(Gaussian(2.0), Gaussian("0.5 * median"))
    'Gaussian kernel with bandwidth 2, 0.5 times the median distance'
    >>> kernel_in_words(None, Gaussian())
    'Gaussian kernel with the median distance as bandwidth'
    """
    shown = given if kernel is None else kernel
    name = shown.label if isinstance(getattr(shown, "label", None), str) else str(shown)
    text = f"{name} kernel"
    width = getattr(kernel, "bandwidth", None)
    rule = _rule_in_words(getattr(given, "bandwidth", None))
    if width is None or isinstance(width, str):
        unknown = kernel is None or isinstance(width, str)
        return f"{text} with {rule} as bandwidth" if rule and unknown else text
    return f"{text} with bandwidth {number(width)}{rule and f', {rule}'}"


def _rule_in_words(rule: Any) -> str:
    if not isinstance(rule, str):
        return ""
    factor, name = parsed(rule)
    return _RULES[name] if factor == 1.0 else f"{factor:g} times {_RULES[name]}"


# --- sources --------------------------------------------------------------------------------------

_BY_ROUTE = {"nystrom": ("WS00",), "rff": ("RR07",)}


def sources_of(value: Any) -> Iterator[str]:
    """Yield keys of the papers of estimators, kernels and rules, and of their parts."""
    yield from getattr(value, "sources", ())
    parts = value if isinstance(value, tuple) else ()
    if is_dataclass(value):
        parts = tuple(getattr(value, field.name) for field in fields(value))
    for part in parts:
        if isinstance(part, tuple) or is_dataclass(part):
            yield from sources_of(part)


def sources_of_route(route: str) -> Iterator[str]:
    """Yield keys of the papers of approximations, from routes joined by "/"."""
    for name in route.split("/"):
        yield from _BY_ROUTE.get(name, ())
