"""Notes of results: one table of codes and texts."""

from __future__ import annotations

from typing import Any


class Note(str):
    """Text of a note; its ``code`` says which kind of note it is.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 20, 2)) * [1.0, 1000.0]
    >>> [note.code for note in two_sample_test(X, Y, rng=0).notes]
    ['units-apart']
    """

    code: str

    def __new__(cls, text: str, code: str = "") -> Note:
        """Return the text as a note."""
        made = super().__new__(cls, text)
        made.code = code
        return made


#: Text of every note, by its code; braces hold what differs between data sets.
TEXTS = {
    # columns and rows that are not tested, or not as they are
    "no-weight": "{which} only one value and thus no weight{unit}.",
    "untested-column": "Column {column!r} {what}: {reason}.",
    "untested-pair": "Not tested: {reason}.",
    "text-as-numbers": "Column {column!r} is text that contains whole numbers, which are read as "
    "numbers (column_types={{{column!r}: 'category'}} reads them as categories).",
    "constant-columns": "{which} not tested: {they} the same value in every row.",
    "missing-left-out": "Left out because of missing values: {rows}{where}.",
    "sample-ratio": (
        "Sample ratio mismatch: {sizes}, planned {ratio} (exact binomial test, p = {pvalue}). Find "
        "out which rows are missing, because they may explain a difference."
    ),
    "no-segment": "Left out, because {by} is missing: {rows}.",
    "missing-left-out-of-all": (
        "Rows with a missing value in any column are left out of all tests ({rows}). If the "
        "absence of a value depends on that value, use nan_policy='indicator' or test {than} by "
        "itself."
    ),
    "missing-is-information": (
        "{name}: missing values in {columns} are compared as well (nan_policy='indicator')."
    ),
    "complete-pairs": (
        "In {columns}, values are compared in complete pairs only, and missing values are compared "
        "separately."
    ),
    "rows-left": ("Locations count only the rows that were kept, starting from 0 ({way})."),
    # units and bandwidths
    "units-sd": (
        "Numeric columns are standardized by their pooled standard deviation (scale='sd', the "
        "default for tables; scale=None turns this off)."
    ),
    "units-of-reference": (
        "Numeric columns are standardized by the standard deviation of the reference sample "
        "(scale='sd', the default for tables; scale=None turns this off)."
    ),
    "units-apart": (
        "{name}: {columns} nearly all of each distance because of {their} measurement units, so "
        "differences in {others} are barely visible. Use scale='sd'."
    ),
    "bandwidth": "{name}: the bandwidth {width} is so {problem} one, or bandwidth='median'.",
    # columns and rows that look like something else
    "looks-like-labels": (
        "{name} looks like labels: it has {few} different values, and {data} has {many}. To "
        "compare the groups of {data}, {call}."
    ),
    "tells-samples-apart": "Column {column!r} alone tells {names} apart, because {reason} "
    "(column_types={{{column!r}: 'drop'}} leaves it out).",
    "hardly-overlaps": (
        "Column {column!r} is left out of the overall test because its values in {names} barely "
        "overlap (column_types={{{column!r}: {kind!r}}} keeps it)."
    ),
    "repeated-units": (
        "{values} of column {column!r} {are} in {names}. If rows with the same value belong "
        "together, such as repeated observations of a unit, {remedy}."
    ),
    "same-values": "{first} and {second} have the same values in every row.",
    "shared-rows": (
        "{rows} rows are in both samples, and none of them is repeated within a sample. Shared "
        "rows make the samples look more similar than they are: remove them from one sample, or "
        "pass pairs with paired=True."
    ),
    "same-rows": (
        "{first} and {second} contain the same rows; pass data that were observed separately."
    ),
    "repeated-rows": (
        "{share} of the rows of {name} occur more than once, although the values look continuous. "
        "Copies are not independent, so the p-value may be too small: remove the copies, or put "
        "them into one group (groups=)."
    ),
    "unit-columns": (
        "Values of {which} repeat within each of {names} but never occur in more than one of them. "
        "If rows with the same value belong together, such as the visits of a patient, use "
        "{column} as groups=."
    ),
    # estimators and forms
    "same-as-kme": (
        "Permuting does not change the {amount}, so the p-value equals that with estimator='kme' "
        "({plain})."
    ),
    "tuned-apart": (
        "Estimators tuned on each sample separately add unequal noise, so the statistic is not "
        "centered at zero under equal distributions. The test remains exact, but tuning='pooled' "
        "or 'joint' is preferable."
    ),
    "unequal-sizes": (
        "With unequal sample sizes, the power of {what} depends on which sample has the "
        "larger spread; with {remedy}, it does not."
    ),
    "approximation": (
        "The statistic is computed from {what}; its permutation test is still exact."
    ),
    "differences-alone": (
        "A test of within-pair mean differences alone would reject (p = {pvalue:.2g}). Do not "
        "report it instead of this one, because it was not planned; estimator='auto' includes "
        "such differences."
    ),
    # designs with several factors
    "few-values": (
        "{column} has {count} distinct values and enters the model with one slope; C({column}) "
        "compares its levels."
    ),
    "few-exact": (
        "Within cells of the other factors, {term} has only {permutations} of rows, so rows of its "
        "residualized predictor were permuted."
    ),
    "spread-differs": (
        "The spread of the response depends on the terms. Approximate tests allow for this only in "
        "part; result.dispersion() tests which terms the spread depends on."
    ),
    "few-residuals": (
        "Cells of the design have as few as {fewest}; tests of spread are approximate, and least "
        "accurate if cells have fewer than 10."
    ),
    "additive-in-distance": (
        "For {term}, the null hypothesis is that effects add up in this kernel or distance, not in "
        "the data, because effects cannot be subtracted from a precomputed matrix."
    ),
    "negative-share": (
        "The distances cannot be embedded in a Euclidean space, so proportions of variance may be "
        "negative or exceed 1. The square roots of the distances often can be embedded."
    ),
    # rows in order of time
    "serial-correlation": (
        "Successive rows of {names} are correlated ({values}) over about {length}. If rows are in "
        "time order, {wrong}: {remedy}."
    ),
    "short-series": (
        "{what} too short for the autocorrelation of {name}, so the p-value may be too small: "
        "collect a longer series, or test differences between successive rows."
    ),
    "single-lag": (
        "Only lag {lag} was tested; lags=range({low}, {high}) tests all lags up to {longest}."
    ),
    "ends-meet": (
        "Shifts are circular, so at a lag of {longest} the last {rows} of one series {meet} the "
        "first of the other."
    ),
    # monitors
    "reference-changes": (
        "The reference itself changes near row {row} (p = {pvalue:.2g}): use a homogeneous "
        "segment as reference, or monitor one row per unit of time."
    ),
    "batch-trends": (
        "Values of {columns} increase or decrease within a batch. If the rows of a batch are "
        "sorted by a key instead of by time, pass ordered=False."
    ),
    # p-values
    "too-few-permutations": "{problem}.",
    "rounding": (
        "The statistic is lost in rounding error, which makes the p-value too large. Center the "
        "columns, or use scale='rank', a smaller bandwidth, or estimator='kme'."
    ),
    "tail": (
        "This p-value is approximate: the tail of the null distribution was fitted to the "
        "{resamples} and extrapolated. The decision rests on the exact p-value of the test."
    ),
    "constant-statistic": (
        "Every permutation gives the same statistic, so p = 1. If rows differ within blocks or "
        "pairs, center the columns, or use scale='rank' or another bandwidth."
    ),
    "shrunk-to-zero": (
        "The estimate was shrunk to zero, so p = 1. This says nothing about how likely the data "
        "are. Use estimator='kme' to avoid shrinkage."
    ),
    # data in batches
    "bins": (
        "{bins} randomly formed bins of {rows} were permuted instead of single rows. The test "
        "remains exact, and estimators are fitted to bin means{left}."
    ),
    "bins-cost": (
        "100 random features cost about 6 percentage points of power with 500 rows per sample, "
        "and 400 features about 2; bins cost very little (page 'Large samples and clusters')."
    ),
    "blocks-of-pairs": (
        "Y was permuted within blocks of {length} successive pairs: {blocks} blocks in {groups} "
        "groups{left}. The test is exact if successive pairs are exchangeable, which does not hold "
        "for time series. If rows are sorted, shuffle them first."
    ),
    "random-sample": ("{what} computed from a random sample of {rows} rows."),
    "no-separability": (
        "Only the distance was estimated, from bins: the AUC requires the rows, which were not "
        "kept."
    ),
    # change points
    "no-rejection": (
        "The test does not reject. The location and its interval describe the best candidate and "
        "are not evidence of a change."
    ),
    "interval-ends": (
        "The interval for each end of the change treats the other end as known, and covers weak "
        "changes less often than stated (measured: 90% for a nominal 95%)."
    ),
    "interval-chosen": (
        "The interval is wider than for a single statistic, because the statistic was selected by "
        "the data. The width was calibrated by simulation and is not exact."
    ),
    "no-interval": (
        "No interval could be computed, because this requires exchanging rows on one side of the "
        "change: {why}"
    ),
    "later-changes": (
        "The adjusted p-value of the first change is exact. The p-values of later changes treat "
        "the rows of a segment as exchangeable, although the data determined where it ends."
    ),
    # conditional tests
    "strata-left-out": ("{rows} left out: no {other} has the same values of {argument}=."),
    "strata-means": ("Kernels are applied to values after subtracting stratum means{exception}."),
    "residuals": ("Kernels are applied to the residuals of a regression on the covariates."),
    "four-statistics": (
        "Four statistics are combined, with weights: 'means' 80% (products of residuals), "
        "'turning' 6% (these products times Z), 'squares' 8% (residuals times squared residuals) "
        "and 'shapes' 6% (kernel features).{decided}"
    ),
    "regressions": (
        "The regressions {problem}, so a small p-value is not evidence of dependence. Collect "
        "more rows, or use a better regressor=, strata or x_given_z=."
    ),
    # effects, equivalence and relative similarity
    "effect-of-member": (
        "{what} computed for the component with the largest predefined weight: {kernel}."
    ),
    "witness-of-member": (
        "The witness function and its band belong to {member}, the component with the smallest "
        "p-value. The band does not account for that choice; the p-value does."
    ),
    "effect-of-pair": (
        "Each interval describes its own pair only: the largest of several differences tends to "
        "be overestimated."
    ),
    "parametric-bootstrap": (
        "Parameters were estimated from the same rows (fit=), so the p-value is that of a "
        "parametric bootstrap and is approximate."
    ),
    "effect-without-design": ("Intervals of effects do not account for {design}; p-values do."),
    "effect-in-time": (
        "No interval is given for rows in time order, because it would be too short."
    ),
    "effect-in-blocks": (
        "Rows are compared within blocks, whose weights are equal in both samples. The distance "
        "needs two rows of each sample in a block (for pairs, use paired=True). Intervals may "
        "include the null value although the test rejects."
    ),
    "effect-across-blocks": (
        "Effects of columns compare all rows, so differences between blocks are part of them and "
        "widen their intervals; p-values, and effects adjusted for {words}, compare rows within "
        "blocks."
    ),
    "effect-across-covariates": (
        "Effects of columns compare all rows, regardless of covariates; those adjusted for "
        "{words} come from a linear regression with equal slopes in both samples."
    ),
    "dependence-of-blocks": (
        "The dependence includes differences between blocks, which the test does not count."
    ),
    "dependence-few-groups": (
        "The dependence cannot be estimated, because this requires rows of at least {groups} "
        "different groups."
    ),
    "interval-few": "{where} {units} independent observations: {what}.",
    "interval-cut": (
        "Interval limits below 0, the smallest possible value, are set to 0; an unbiased estimate "
        "may be below 0 and thus outside its interval."
    ),
    "no-area-interval": (
        "No interval is given for the AUC, because the fitted witness functions are constant, for "
        "example after heavy shrinkage."
    ),
    "long-area-interval": (
        "With fewer than {units} independent observations per sample, the interval of the AUC is "
        "conservative (measured coverage 94% to 99% for a nominal 95%)."
    ),
    "hardly-varies": ("A variable is nearly constant: {problem}."),
    "rare-rows": (
        "Few {units} differ from the most common {row} ({counts}), so upper limits are too small "
        "more often than stated: collect more {units}."
    ),
    "asymptotic": (
        "The p-value and the {interval} are asymptotic, and hold for this kernel with this "
        "bandwidth."
    ),
    "asymptotic-means": (
        "The p-value and the upper limit are those of two one-sided t tests, and are approximate "
        "unless values are normal."
    ),
    "no-variance": "The variance cannot be estimated, so p = 1, which is no evidence either way.",
    "fitted-witness": (
        "The result applies to witness functions fitted to samples of this size; the best possible "
        "function may separate X and Y better."
    ),
    "share-of-variance": (
        "The distance is the proportion of the total variance that lies between the samples."
    ),
    "margin-by-change": (
        "The margin {margin} is the effect of {change} on the pooled rows; its uncertainty is not "
        "taken into account."
    ),
    "missing-in-both": (
        "Values of column {column!r} are missing in {shares}: two rows without a value count as "
        "equal."
    ),
    "few-units": "{where} only {count} {units}; {what} was measured only for {least} or more.",
    "uneven-candidates": (
        "{first} and {second} have very different sizes, so one-sided tests may reject somewhat "
        "too often; the two-sided test does not."
    ),
    "interval-groups": "The interval is computed by a jackknife over {groups} groups of pairs.",
    "regions-chosen": (
        "These regions were selected from many. Adjusted p-values account for the selection; "
        "proportions and intervals do not, so differences tend to be overestimated."
    ),
    "regions-across-blocks": (
        "Proportions and intervals of regions use all rows, whereas p-values compare rows within "
        "blocks."
    ),
    "regions-by-column": (
        "Only regions of single columns were compared, because there are many columns ({columns}) "
        "or many rows."
    ),
    "undecided": (
        "Without permutations, the statistics cannot be compared, so the witness function and the "
        "location of a change are those of the first statistic."
    ),
}


def note(code: str, /, **values: Any) -> Note:
    """Return the note with this code, with values in its text."""
    return Note(TEXTS[code].format(**values), code)


def has_code(text: str, *codes: str) -> bool:
    """Return True if a note has one of these codes."""
    return getattr(text, "code", "") in codes


def without_level(text: str) -> Note:
    """Return a note on an approximation without its part on permutations.

    For tests that are asymptotic.
    """
    return Note(f"{text.partition(';')[0]}.", getattr(text, "code", ""))
