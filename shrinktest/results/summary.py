"""The printed summary of a result, in the style of statsmodels."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from shrinktest.multiple.aggregation import AggregateResult
    from shrinktest.results.result import TestResult

_TITLES = {
    "two-sample": "Kernel two-sample test (MMD)",
    "independence": "Kernel independence test (HSIC)",
    "k-sample": "Kernel k-sample test",
    "joint-independence": "Kernel joint independence test (dHSIC)",
}
_NULLS = {
    "two-sample": "equal distributions",
    "independence": "independence",
    "k-sample": "equal distributions",
    "joint-independence": "joint independence",
}
_UNITS = {"two-sample": "observations", "independence": "pairs", "k-sample": "observations"}


# Labels left, values right, as in statsmodels' own summaries
_PAIRS = {
    "table_dec_above": "=",
    "table_dec_below": "=",
    "header_dec_below": "-",
    "row_dec_below": None,
    "title_align": "c",
    "stub_align": "l",
    "data_aligns": "rlr",
    "colsep": " ",
}


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple):
        shown = ", ".join(_number(v) for v in value[:4])
        return f"({shown}{', ...' if len(value) > 4 else ''})"
    return str(value) if isinstance(value, int | str) else f"{value:.4g}"


def summary(result: TestResult) -> Any:
    """Title, what was done, what came out, the estimates, and notes."""
    from statsmodels.iolib.summary import Summary
    from statsmodels.iolib.table import SimpleTable

    kernels = result.kernel if isinstance(result.kernel, tuple) else (result.kernel,)
    sizes = " + ".join(map(str, result.n_observations))
    names = _names(result.test, len(kernels))
    left = [
        ("Null hypothesis:", _NULLS[result.test]),
        ("Estimator:", repr(result.estimator)),
        ("Tuning:", result.tuning),
        *((f"Kernel{' ' + v if v else ''}:", type(k).__name__) for v, k in zip(names, kernels, strict=True)),
        *((f"Bandwidth{' ' + v if v else ''}:", _number(b)) for v, b in zip(names, _widths(result), strict=True)),
        (f"No. {_UNITS.get(result.test, 'rows')}:", sizes),
    ]
    low, high = result.pvalue_interval()
    decision = "reject" if result.reject() else "do not reject"
    right = [
        ("Statistic:", f"{result.statistic:.6g}"),
        ("Form:", result.form),
        ("p-value:", f"{result.pvalue:.4g}"),
        ("95% Monte Carlo:", _interval(result.exact, low, high)),
        (f"Critical ({result.alpha:g}):", "not known" if result.stopped else f"{result.critical_value():.6g}"),
        ("Decision:", "none" if np.isnan(result.pvalue) else decision),
        ("Relabellings:", _drawn(result)),
        *((("Restriction:", result.restriction),) if result.restriction else ()),
        ("Kernel values:", result.route),
    ]
    blank = ("", "")
    length = max(len(left), len(right))
    left += [blank] * (length - len(left))
    right += [blank] * (length - len(right))
    rows = [[a[1], f"   {b[0]}", b[1]] for a, b in zip(left, right, strict=True)]
    out = Summary()
    out.tables.append(SimpleTable(rows, stubs=[a[0] for a in left], title=_TITLES[result.test], txt_fmt=_PAIRS))
    if result.estimates:
        stubs = _stubs(result)
        body = [[str(len(e.points)), _number(e.shrinkage), f"{e.norm2():.6g}"] for e in result.estimates]
        out.tables.append(
            SimpleTable(
                body,
                headers=["n", result.estimator.amount, "squared norm"],
                stubs=stubs,
                txt_fmt={**_PAIRS, "data_aligns": "r", "colsep": "   "},
            )
        )
    if result.notes:
        numbered = (f"[{i}] {note}" for i, note in enumerate(result.notes, 1))
        out.add_extra_txt([fill(note, 80, subsequent_indent="    ") for note in numbered])
    return out


def _drawn(result: TestResult) -> str:
    if result.stopping is None:
        return f"{result.n_resamples} ({'all' if result.exact else 'random'})"
    return f"{result.n_resamples} of {result.n_planned} (random)"


def _names(test: str, kernels: int) -> tuple[str, ...]:
    if kernels == 1:
        return ("",)
    return ("X", "Y") if test == "independence" else tuple(map(str, range(kernels)))


def _stubs(result: TestResult) -> list[str]:
    if result.test == "k-sample":
        return [f"sample {i}" for i in range(len(result.estimates))]
    return {"two-sample": ["X", "Y"], "independence": ["pairs"]}.get(result.test, ["rows"])


def aggregate_summary(result: AggregateResult) -> Any:
    """Title, what was combined, what came out, and a line for every member."""
    from statsmodels.iolib.summary import Summary
    from statsmodels.iolib.table import SimpleTable

    low, high = result.pvalue_interval()
    decision = "none" if np.isnan(result.pvalue) else "reject" if result.reject() else "do not reject"
    unit = "observations" if result.test == "two-sample" else "pairs"
    rows = [
        ("Null hypothesis:", _NULLS[result.test], "p-value:", f"{result.pvalue:.4g}"),
        ("Members:", str(len(result.members)), "95% Monte Carlo:", _interval(result.exact, low, high)),
        (f"No. {unit}:", " + ".join(map(str, result.n_observations)), "Decision:", f"{decision} ({result.alpha:g})"),
        ("Form:", result.form, "Relabellings:", _drawn(result)),
        *((("", "", "Restriction:", result.restriction),) if result.restriction else ()),
    ]
    body = [[a[1], f"   {a[2]}", a[3]] for a in rows]
    out = Summary()
    title = f"{_TITLES[result.test]}, combined"
    out.tables.append(SimpleTable(body, stubs=[a[0] for a in rows], title=title, txt_fmt=_PAIRS))
    lines = []
    for row, member in zip(result.rows(), result.members, strict=True):
        kernels = member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
        widths = (_number(getattr(kernel, "bandwidth", None)) for kernel in kernels)
        named = " x ".join(f"{type(kernel).__name__} {width}" for kernel, width in zip(kernels, widths, strict=True))
        numbers = (member.statistic, member.pvalue, row["adjusted"], row["weight"])
        lines.append([named, *(f"{number:.4g}" for number in numbers)])
    out.tables.append(
        SimpleTable(
            lines,
            headers=["kernel", "statistic", "p-value", "adjusted", "weight"],
            stubs=[repr(member.estimator) for member in result.members],
            txt_fmt={**_PAIRS, "data_aligns": "lrrrr", "colsep": "   "},
        )
    )
    if result.notes:
        numbered = (f"[{i}] {note}" for i, note in enumerate(result.notes, 1))
        out.add_extra_txt([fill(note, 80, subsequent_indent="    ") for note in numbered])
    return out


def _interval(exact: bool, low: float, high: float) -> str:
    return "exact" if exact else f"[{low:.4g}, {high:.4g}]"


def _widths(result: TestResult) -> tuple[Any, ...]:
    return result.bandwidth if isinstance(result.kernel, tuple) else (result.bandwidth,)
