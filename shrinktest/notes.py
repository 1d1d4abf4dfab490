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
    "no-weight": "{which} one value only, and no weight{unit}.",
    "untested-column": "Column {column!r} {what}: {reason}.",
    "untested-pair": "Not tested: {reason}.",
    "text-as-numbers": "Column {column!r} is text, and its whole numbers are read as numbers "
    "(column_types={{{column!r}: 'category'}} reads them as categories).",
    "constant-columns": "{which} not tested: {they} the same value in every row.",
    "missing-left-out": "Left out for missing values: {rows}{where}.",
    "sample-ratio": (
        "Sample ratio mismatch: {sizes}, planned {ratio} (exact binomial test, p = {pvalue}). Find "
        "out which rows are missing, because they may be the difference."
    ),
    "no-segment": "Left out, because {by} is missing: {rows}.",
    "missing-left-out-of-all": (
        "Rows that miss a value in any column are left out of all columns ({rows}). If what is "
        "missing depends on the values, use nan_policy='indicator' or test {than} by itself."
    ),
    "missing-is-information": "{name}: that a value is missing counts as information in {columns}.",
    "complete-pairs": (
        "Only complete pairs are compared by their values, and missing values separately: "
        "{columns}."
    ),
    "rows-left": (
        "Places count the rows that are left, from 0: those that were left out are not among them "
        "({way})."
    ),
    # units and bandwidths
    "units-sd": (
        "Numbers are compared in units of their standard deviation in all rows (scale='sd', the "
        "default for tables; scale=None takes them as they are)."
    ),
    "units-of-reference": (
        "Numbers are compared in units of their standard deviation in the reference sample "
        "(scale='sd', the default for tables; scale=None takes them as they are)."
    ),
    "units-apart": (
        "{name}: {columns} nearly all of the distances, because of {their} units; differences in "
        "{others} can hardly be seen. scale='sd' compares all columns in units of their standard "
        "deviation."
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
        "Column {column!r} is left out of the overall test: its values in {names} hardly overlap "
        "(column_types={{{column!r}: {kind!r}}} keeps it)."
    ),
    "repeated-units": (
        "{values} of column {column!r} {are} in {names}. If rows with the same value belong "
        "together, such as a unit that is observed again, {remedy}."
    ),
    "same-values": "{first} and {second} have the same values in every row.",
    "shared-rows": (
        "{rows} rows are in both samples, and no row is in one of them twice. Rows in both make "
        "the samples look alike: leave them out of one, or give pairs with paired=True."
    ),
    "same-rows": (
        "{first} and {second} hold the same rows; give data that were observed separately."
    ),
    "repeated-rows": (
        "{share} of the rows of {name} occur more than once, although values look continuous. "
        "Copies are not independent, so the p-value may be too small: give each row once, or put "
        "copies into one group (groups=)."
    ),
    "unit-columns": (
        "Values of {which} repeat within each of {names} but never occur in two of them. If rows "
        "with the same value belong together, such as the visits of a patient, use {column} as "
        "groups=."
    ),
    # estimators and forms
    "same-as-kme": (
        "Permuting does not change the {amount}, so the p-value equals that with estimator='kme' "
        "({plain})."
    ),
    "tuned-apart": (
        "Samples that are tuned apart carry unequal noise, so the statistic is not zero under "
        "equal distributions. The p-value stays exact, but prefer tuning='pooled' or 'joint'."
    ),
    "unequal-sizes": (
        "With unequal sizes {what} favors one direction of a change of scale; {remedy} does not."
    ),
    "approximation": "The statistic uses {what}; its permutation test has exact level.",
    "differences-alone": (
        "Mean differences within pairs alone would reject (p = {pvalue:.2g}). That is another "
        "test, not to be reported in place of this one; estimator='auto' includes differences "
        "within pairs."
    ),
    # designs with several factors
    "few-values": (
        "{column} has {count} different numbers and enters as one slope; C({column}) compares "
        "its levels."
    ),
    "few-exact": (
        "Cells of the other factors leave {permutations} of rows for {term}, so rows of its "
        "residualized predictor were permuted."
    ),
    "few-residuals": (
        "Cells of the design have as few as {fewest}; tests of spread are approximate, most of all "
        "in cells with fewer than 10."
    ),
    "additive-in-distance": (
        "{term} tests whether effects add up in this kernel or distance, not in the data, because "
        "a precomputed matrix cannot be aligned."
    ),
    "negative-share": (
        "The distances fit no Euclidean space, so shares may be negative or exceed 1; square "
        "roots of the distances often fit one."
    ),
    # rows in order of time
    "serial-correlation": (
        "Successive rows of {names} are correlated ({values}), in stretches of about {length}. If "
        "they are in order of time, {wrong}: {remedy}."
    ),
    "short-series": (
        "{what} short for how slowly rows of {name} change, so the p-value may be too small: "
        "observe longer, or test differences of successive rows."
    ),
    "single-lag": (
        "This is lag {lag} alone; lags=range({low}, {high}) tests all lags up to {longest}."
    ),
    "ends-meet": (
        "At a lag of {longest} the last {rows} of one series {meet} the first of the other, "
        "because shifts are circular."
    ),
    # monitors
    "reference-changes": (
        "The reference itself changes in its order, near its row {row} (p = {pvalue:.2g}): take a "
        "stretch that is alike throughout, or monitor one row per unit of time."
    ),
    "batch-trends": (
        "Ranks of {columns} go up or down within a batch. If its rows are sorted by a key and not "
        "in order of time, pass ordered=False."
    ),
    # p-values
    "too-few-permutations": "{problem}.",
    "rounding": (
        "Rounding errors are not small compared with the null distribution: the p-value is too "
        "large. Center the columns, or use scale='rank', a smaller bandwidth, or estimator='kme'."
    ),
    "constant-statistic": (
        "Every permutation gives the same statistic up to rounding, so p = 1. If rows differ "
        "within blocks or pairs, center the columns, or use scale='rank' or another bandwidth."
    ),
    "shrunk-to-zero": (
        "The estimate was shrunk to zero, so p = 1, which says that nothing was found and not how "
        "likely the data are. Use estimator='kme' to avoid shrinkage."
    ),
    # data in batches
    "bins": (
        "{bins} bins of {rows} each, chosen at random, were permuted in place of rows: the level "
        "is exact, and estimators are fitted to the means of bins{left}."
    ),
    "bins-cost": (
        "100 random features cost about 7 points of power in samples of 500 rows, 400 features "
        "about 2, and 400 bins next to nothing (see the page 'What bins and rank cost in power')."
    ),
    "blocks-of-pairs": (
        "Y changed places within {length} successive pairs, in {blocks} blocks and {groups} "
        "groups{left}. The level is exact if successive pairs are exchangeable: not in time "
        "series. Shuffle sorted rows first."
    ),
    "random-sample": "{what} comes from a random sample of {rows} rows.",
    "no-separability": (
        "Separability needs rows, which were not kept: only the distance was estimated, from bins."
    ),
    # change points
    "no-rejection": (
        "The test does not reject: the place is where a change would be if there were one, and "
        "its interval says nothing about whether there is."
    ),
    "interval-ends": (
        "The interval for each end of the change takes the other end as fixed; it misses weak "
        "changes more often than its confidence says (90 % for 95 % were measured)."
    ),
    "interval-chosen": (
        "The interval is wider than for a single statistic, because the data chose the statistic. "
        "By how much it must be wider was measured, and is not known exactly."
    ),
    "no-interval": (
        "There is no interval for the place, which needs rows that change places on both sides of "
        "it: {why}"
    ),
    "later-changes": (
        "The adjusted p-value of the first change found is exact. The others treat the rows of a "
        "stretch as exchangeable although the data chose its ends."
    ),
    # conditional tests
    "strata-left-out": "{rows} left out: no row to exchange with has the same {argument}.",
    "strata-means": "Kernels compare values less their means within strata{exception}.",
    "residuals": "Kernels compare residuals of the samples after a regression on covariates.",
    "four-statistics": (
        "Four statistics share the level: of products of residuals (means, 80 %), of these times "
        "Z (turning, 6 %), of residuals and squares (squares, 8 %), of kernel features (shapes, 6 "
        "%).{decided}"
    ),
    "regressions": (
        "The regressions {problem}. Do not trust a small p-value: use more rows, a better "
        "regressor=, strata or x_given_z=."
    ),
    # effects, equivalence and relative similarity
    "effect-of-member": (
        "{what} computed for the member with the largest weight, which no data choose: {kernel}."
    ),
    "witness-of-member": (
        "The function and its band belong to the member that decided, {member}. The data chose "
        "it, which the band does not allow for; the p-value of the test does."
    ),
    "effect-of-pair": (
        "Each interval is for its pair alone: the largest of several differences looks larger "
        "than it is."
    ),
    "parametric-bootstrap": (
        "Parameters were fitted to the same rows (fit=): the p-value is of a parametric bootstrap, "
        "and approximate."
    ),
    "effect-without-design": (
        "Intervals of effects do not take {design} into account; the p-values do."
    ),
    "effect-in-time": (
        "The rows follow each other in time: there is no interval, because it would be too short."
    ),
    "effect-in-blocks": (
        "Rows are compared within blocks, with the same shares of blocks in both samples. Blocks "
        "with fewer than two rows of a sample are left out of the distance (pairs: paired=True). "
        "Intervals may include no difference although the test rejects."
    ),
    "effect-across-blocks": (
        "Effects of columns compare all rows, so differences between blocks are part of them and "
        "widen their intervals, which may include no change although the p-value is small: "
        "p-values compare rows within blocks."
    ),
    "dependence-of-blocks": (
        "Differences between blocks are part of the dependence, which the test does not count."
    ),
    "dependence-few-groups": (
        "The dependence is estimated from pairs of {groups} different groups; with fewer there is "
        "none."
    ),
    "interval-few": "{where} {units} independent observations: {what}.",
    "interval-cut": (
        "Intervals are cut at 0, the least that the quantity can be; an estimate may be below 0, "
        "outside its interval."
    ),
    "no-area-interval": (
        "There is no interval of the AUC: the fitted witness functions do not tell rows from each "
        "other, for example because of shrinkage."
    ),
    "long-area-interval": (
        "With fewer than {units} independent observations in a sample the interval of the AUC "
        "tends to be too long (it covers in 94 to 99 % of data sets for 95 %)."
    ),
    "hardly-varies": "A variable hardly varies: {problem}.",
    "rare-rows": (
        "Few {units} differ from the most common {row} ({counts}). Upper limits are then too "
        "small more often than they say: take more {units}."
    ),
    "asymptotic": (
        "The p-value and the {interval} are asymptotic, and hold for this kernel with this "
        "bandwidth."
    ),
    "no-variance": (
        "There is no variance to compute a standard error from, so p = 1: nothing was shown."
    ),
    "fitted-witness": (
        "The statement is about witness functions fitted to so many rows; the best one may tell X "
        "and Y apart better."
    ),
    "share-of-variance": "The distance is the share of the variance that lies between the samples.",
    "margin-by-change": (
        "The margin {margin} is the effect of {change} on the pooled rows; it is taken as given."
    ),
    "missing-in-both": (
        "Column {column!r} is missing in {shares}: rows without a value count as equal."
    ),
    "few-units": "{where} only {count} {units}; {what} was measured from {least} on.",
    "uneven-candidates": (
        "{first} and {second} have very different sizes: the level of one-sided tests may be "
        "exceeded somewhat; the two-sided test holds its level."
    ),
    "interval-groups": "The interval is a jackknife over {groups} groups of pairs.",
    "regions-chosen": (
        "The data chose these regions among all boxes: adjusted p-values allow for that; shares "
        "and intervals do not, and tend to be too far apart."
    ),
    "regions-across-blocks": (
        "Shares and intervals of regions count all rows, whatever their block; p-values compare "
        "rows within blocks."
    ),
    "regions-by-column": (
        "With {columns} columns, or so many rows, only regions of single columns were compared."
    ),
    "undecided": (
        "Without permutations the statistics cannot be compared, so the witness function and the "
        "place of a change describe the first."
    ),
}


def note(code: str, /, **values: Any) -> Note:
    """Return the note with this code, with values in its text."""
    return Note(TEXTS[code].format(**values), code)


def has_code(text: str, *codes: str) -> bool:
    """Return True if a note has one of these codes."""
    return getattr(text, "code", "") in codes


def without_level(text: str) -> Note:
    """Return a note on an approximation without its half on permutations.

    For tests that are asymptotic.
    """
    return Note(f"{text.partition(';')[0]}.", getattr(text, "code", ""))
