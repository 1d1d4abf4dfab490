"""The printed summaries of results, in the style of statsmodels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest.results.text import Summary, Table

if TYPE_CHECKING:
    from shrinktest.results.aggregate import AggregateResult
    from shrinktest.results.effect import Effect
    from shrinktest.results.result import TestResult


def summary(result: TestResult, effect: Effect | None = None) -> Summary:
    """Title, what was done, what came out, the estimates, the effect if there is one, and notes."""
    kind = result.kind
    kernels = result.kernel if isinstance(result.kernel, tuple) else (result.kernel,)
    widths = result.bandwidth if isinstance(result.kernel, tuple) else (result.bandwidth,)
    named = _names(result.names, kind.kernel_names(len(kernels))) if len(kernels) > 1 else [""]
    names = [f" {name}" if name else "" for name in named]
    left = [("Null hypothesis:", kind.null)]
    if result.method:
        left.append(("Method:", result.method))
    if result.estimator is not None:
        left += [("Estimator:", repr(result.estimator)), ("Tuning:", result.tuning)]
    if result.kernel is not None:
        left += [(f"Kernel{name}:", kernel.label) for name, kernel in zip(names, kernels, strict=True)]
        left += [(f"Bandwidth{name}:", _number(width)) for name, width in zip(names, widths, strict=True)]
    left.append((f"No. {kind.unit}:", " + ".join(map(str, result.n_observations))))
    critical = result.critical_value()
    critical = np.nan if np.isnan(result.pvalue) else critical
    unknown = np.isnan(critical) and result.n_resamples > 0
    right = [
        ("Statistic:", _or_none(result.statistic, ".6g")),
        *((("Form:", result.form),) if result.form else ()),
        ("p-value:", _or_none(result.pvalue)),
        ("95% Monte Carlo:", _interval(result)),
        (f"Critical ({result.alpha:g}):", "not known" if unknown else _or_none(critical, ".6g")),
        ("Decision:", _decision(result)),
        ("Permutations:", _drawn(result)),
        *((("PermutationDesign:", result.restriction),) if result.restriction else ()),
        *((("Kernel values:", result.route),) if result.route else ()),
    ]
    pairs = zip_longest(left, right, fillvalue=("", ""))
    tables = [_head(kind.title, [(*first, *second) for first, second in pairs])]
    if result.estimates:
        labels = _names(result.names, result.estimate_names(len(result.estimates)))
        tables.append(
            Table(
                [
                    (label, str(one.n), _number(one.shrinkage), f"{one.norm2():.6g}")
                    for label, one in zip(labels, result.estimates, strict=True)
                ],
                "lr",
                headers=["", "n", getattr(result.estimator, "amount", "amount"), "squared norm"],
                gap="   ",
            )
        )
    return _with_effect(tables, result.notes, effect)


def _with_effect(tables: Sequence[Table], notes: tuple[str, ...], effect: Effect | None) -> Summary:
    """The tables of a test, that of the effect, and below them what they say."""
    if effect is None:
        return Summary(tables, notes)
    return Summary([*tables, effect.printed()], tuple(dict.fromkeys([*notes, *effect.remarks])), effect.lines())


def aggregate_summary(result: AggregateResult, effect: Effect | None = None) -> Summary:
    """Title, what was combined, what came out, a line for every member, the effect if there is one, and notes."""
    kind = result.kind
    sizes = " + ".join(map(str, result.n_observations))
    rows = [
        ("Null hypothesis:", kind.null, "p-value:", _or_none(result.pvalue)),
        ("Members:", str(len(result.members)), "95% Monte Carlo:", _interval(result)),
        (f"No. {kind.unit}:", sizes, "Decision:", f"{_decision(result)} ({result.alpha:g})"),
        ("Form:", result.form, "Permutations:", _drawn(result)),
        *((("", "", "PermutationDesign:", result.restriction),) if result.restriction else ()),
        *((("Method:", result.method, "", ""),) if result.method else ()),
    ]
    lines = []
    for row, member in zip(result.rows(), result.members, strict=True):
        kernels = member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
        named = (f"{kernel.label} {_number(getattr(kernel, 'bandwidth', None))}" for kernel in kernels)
        numbers = (member.statistic, member.pvalue, row["adjusted"], row["weight"])
        cells = ("-" if np.isnan(number) else f"{number:.4g}" for number in numbers)
        lines.append((repr(member.estimator), " x ".join(named), *cells))
    headers = ["", "kernel", "statistic", "p-value", "adjusted", "weight"]
    tables = [_head(f"{kind.title}, combined", rows), Table(lines, "llr", headers, gap="   ")]
    return _with_effect(tables, result.notes, effect)


def _names(own: Sequence[str | None], plain: Sequence[str]) -> list[str]:
    """Names of samples or variables: the data's own where there are as many, else those of the kind of test."""
    if len(own) != len(plain):
        return list(plain)
    return [one or name for one, name in zip(own, plain, strict=True)]


def _head(title: str, rows: list[tuple[str, str, str, str]]) -> Table:
    """Labels left, values right, twice in a line, as in statsmodels' own summaries."""
    return Table([(a, b, f"   {c}", d) for a, b, c, d in rows], "lrlr", title=title)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple):
        shown = ", ".join(_number(v) for v in value[:4])
        return f"({shown}{', ...' if len(value) > 4 else ''})"
    return str(value) if isinstance(value, int | str) else f"{value:.4g}"


def _drawn(result: TestResult) -> str:
    if result.stopping is None:
        return f"{result.n_resamples} ({'all' if result.exact else 'random'})"
    return f"{result.n_resamples} of {result.n_planned} (random)"


def _interval(result: TestResult) -> str:
    if np.isnan(result.pvalue):
        return "none"
    low, high = result.pvalue_interval()
    return "exact" if result.exact else f"[{low:.4g}, {high:.4g}]"


def _or_none(number: float, form: str = ".4g") -> str:
    return "none" if np.isnan(number) else format(number, form)


def _decision(result: TestResult) -> str:
    return "none" if np.isnan(result.pvalue) else "reject" if result.reject() else "do not reject"
