"""Pictures of the reference: drawn in every build from a page's own simplest call, and one line more.

Nothing is kept: a picture shows what the call above it returns, or the build fails.
"""

import doctest
import sys
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from textwrap import fill
from unittest.mock import patch

NULL = (
    "result.plot_null()",
    "Histogram of the statistic under permutations, with the observed and the critical value.",
)
CELLS = "result.plot()", "A cell for every test with its adjusted p-value; a star where it rejects."
EACH = "result.plot()", "p-values of the columns, as they are and adjusted."
COLUMNS = "result.plot()", "Histograms of the column that changed, in both tables."
SEGMENTS = (
    "result.plot()",
    "The AUC of every segment, with its interval; in blue those that differ.",
)
CUTS = (
    "result.plot()",
    "The distance of the rows before and after every cut, with the place of the change.",
)
EVIDENCE = "result.plot()", "Evidence after each batch, and below it the column that changed."
SHARES = "result.plot()", "The share that every term explains, with its interval."
MEANS = (
    'result.plot("cells")',
    "Means of the cells in a plane; lines join the visits of each arm, and part at the last.",
)
TERM = "arm.plot()", "The statistic of the term, in its null distribution."
CHANGES = "result.plot()", "The series with its changes and their intervals."
NEARER = "result.plot()", "How much further away than the nearest the others are, with intervals."
BELOW = "result.plot()", "The estimate with its upper limit, beside the margin."
TWO_BY_TWO = (
    "pairs.plot()",
    "How well every two samples can be told apart, with intervals; in blue those that differ.",
)
PAIRS = "effect.plot()", "How well every two samples can be told apart, with intervals."
LEVELS = (
    "result.plot()",
    "The share of p-values up to every level, and the band in which uniform ones lie.",
)
POWERS = "result.plot()", "Power of both tests by sample size, with intervals; dashed, their level."
SOLVED = "answer.plot()", "Power by number of observations, with the answer and its interval."
DETECTED = "answer.plot()", "Power by size of the effect, with the answer and its interval."
RISKS = "result.plot()", "Risk saved by each estimator in percent, by sample size, with intervals."
LOSSES = "path.plot()", "Mean loss by amount of shrinkage, with the plain average beside it."
MEMBERS = "result.plot()", "p-values of the members of the test, as they are and adjusted."
WITNESS = (
    "result.plot_witness()",
    "The witness function, above zero where the first sample has more observations, with its band.",
)
REGIONS = (
    "result.plot()",
    "Rows of both samples in two columns, and the outlines of regions with more of one of them.",
)
#: By function, and by class of results: the line that draws what the first example found, and what is to be seen.
DRAWN = {
    **dict.fromkeys(
        ["two_sample_test", "independence_test", "k_sample_test", "joint_independence_test"], NULL
    ),
    **dict.fromkeys(["permutation_test", "TestResult", "GoodnessOfFitResult"], NULL),
    **dict.fromkeys(["two_sample_test_columns", "MultipleTestsResult"], EACH),
    **dict.fromkeys(["power_study", "power.PowerStudyResult"], POWERS),
    **dict.fromkeys(["solve_sample_size", "power.SampleSizeResult"], SOLVED),
    **dict.fromkeys(["minimum_detectable_effect", "power.DetectableEffectResult"], DETECTED),
    **dict.fromkeys(["risk.risk_study", "risk.RiskStudyResult"], RISKS),
    **dict.fromkeys(["risk.loss_path", "risk.LossPath"], LOSSES),
    "independence_matrix": CELLS,
    "compare": COLUMNS,
    "SegmentsResult": SEGMENTS,
    "change_point_test": CUTS,
    "change_points": CHANGES,
    "closer_test": NEARER,
    **dict.fromkeys(["DriftMonitor", "MonitorResult"], EVIDENCE),
    "factor_test": SHARES,
    "FactorResult": MEANS,
    "TermResult": TERM,
    "check_level": LEVELS,
    "EquivalenceResult": BELOW,
    "RegionsResult": REGIONS,
    "KSampleEffect": PAIRS,
    "KSampleResult": TWO_BY_TWO,
    "PairwiseResult": TWO_BY_TWO,
    "AggregateResult": MEMBERS,
    "TwoSampleResult": WITNESS,
}

#: Inches: letters of ten points can be read at the width of a phone.
SIZE = (5.0, 3.1)
#: In a picture, the shades at the edges of letters among them.
COLORS = 96
#: On a screen that is wide enough.
WIDTH = "500px"


def shown(name):
    """Return True if the page of a name has a picture."""
    return name.removeprefix("shrinktest.") in DRAWN


def drawn(obj, example, line):
    """The figure that a line draws after an example, with the names of the module that the example is in."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import style

    # the default style, whatever the gallery has set in the same process, and titles and legends that fit
    with style.context("default"), patch("shrinktest.results.plots.axes.SIZE", SIZE):
        return _figure(obj, example, line)


def _figure(obj, example, line):
    from matplotlib import pyplot

    pyplot.close("all")
    names = dict(vars(sys.modules[obj.__module__]))
    with redirect_stdout(StringIO()):
        for step in doctest.DocTestParser().get_examples("\n".join(example)):
            exec(compile(step.source, f"<{obj.__name__}>", "exec"), names)
    axes = eval(line, names)
    figure = pyplot.gcf()
    if not hasattr(axes, "size"):  # pictures of several axes have a size of their own
        figure.set_size_inches(SIZE)
        for ax in figure.axes:
            ax.title.set(text=fill(ax.get_title(), 50), fontsize="medium")
            ax.set_ylabel(fill(ax.get_ylabel(), 34))
    return figure


def save(figure, path):
    """A small file: flat colors need few of them."""
    from PIL import Image

    file = BytesIO()
    figure.savefig(file, dpi=144)
    Image.open(file).convert("RGB").quantize(COLORS).save(path, optimize=True)


def picture(name, obj, example, folder):
    """Lines that show the picture of an example, which is drawn into ``folder``; none where a page has none."""
    if not shown(name):
        return []
    short = name.removeprefix("shrinktest.")
    line, seen = DRAWN[short]
    path = Path(folder) / "pictures" / f"{short}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    save(drawn(obj, example, line), path)
    return [
        f">>> {line}",
        "",
        f".. image:: /api/pictures/{path.name}",
        f"   :alt: {seen}",
        f"   :width: {WIDTH}",
        "",
    ]
