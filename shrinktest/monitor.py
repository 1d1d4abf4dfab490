"""``DriftMonitor``: watch a stream of rows against a reference, and look at any time."""

from __future__ import annotations

import copy
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest._check import (
    Array,
    as_path,
    choice,
    counted,
    flag,
    level,
    listed,
    positive,
    real_values,
)
from shrinktest._hints import hinted
from shrinktest._random import as_rng, rng_provenance
from shrinktest.change_point import change_point_test
from shrinktest.data.all_rows import checked_types
from shrinktest.data.on_disk.sources import in_batches
from shrinktest.data.on_disk.whole import read_if_file
from shrinktest.data.tables import is_table, taken, transformed
from shrinktest.monitoring import state
from shrinktest.monitoring.bets import smallest_shift
from shrinktest.monitoring.changes import effects_of, recent_of
from shrinktest.monitoring.layout import Layout, as_frame, read_reference, without_clocks
from shrinktest.monitoring.reference import Reference, requested_shares
from shrinktest.monitoring.stream import CLASSES
from shrinktest.monitoring.trends import trending
from shrinktest.notes import Note, note
from shrinktest.results.monitor_result import MonitorResult
from shrinktest.results.paragraph import seed_in_words

POLICIES = ("indicator", "omit", "raise")

_FEWEST = 50  # reference rows
_MEMORY = 4e9  # bytes of a file
_SCANNED = 400  # rows of the reference that are tested for a change
_RESAMPLES = 199
_CHANGES = 0.01  # p-value of this test from which a note is written
_TRIM = 0.01  # share of rows at both ends among which no change is looked for
_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?$")


class AlreadyTaken(ValueError):
    """Raised for rows that a monitor has taken under the same name."""


class DriftMonitor:
    """Compare arriving rows with a reference, however often you look.

    The probability that a false alarm is ever raised is at most ``alpha``, however often one looks;
    with ``run_length``, the mean number of rows until a false alarm is instead at least that
    number.  This holds for any distribution and a finite reference, if reference and stream are
    independent rows from one distribution (:doc:`/monitor`).

    Parameters
    ----------
    reference : data frame (pandas, polars, pyarrow), path or array_like, shape (n, d)
        At least 50 rows, such as training data or the last quarter.
    alpha : float, optional
        Probability of a false alarm at any time; default 0.05.
    run_length : float, optional
        Lower bound on the mean number of rows until a false alarm, which replaces ``alpha``.
    column_types : dict, optional
        How to read columns, by name (in arrays by number), if their type in the table is not the
        right one: "number", "category", "boolean", "date" or its format such as "%d/%m/%Y", "drop",
        "ordered", or a list of levels in their order.
    transform : transformer, callable or "hellinger", optional
        A scikit-learn transformer, fitted to half of the reference, or a function of single rows.
    nan_policy : {"indicator", "omit", "raise"}, default "indicator"
        Missing values rank lowest, rows with any are dropped, or an error is raised.
    scores : str, callable, list of these, or dict, optional
        Scores to monitor: "columns", "pairs" (products of two of up to ten numeric columns),
        "novelty" (distance from the reference), "witness" (learned from the stream); default all.
        A function of rows, such as the loss of a model that was fitted elsewhere, returns a number
        for every row.  A dict maps names or functions to shares of ``alpha``, scaled to sum to 1.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed or random generator.

    Attributes
    ----------
    transform : transformer or callable
        The fitted transformer, which must be passed to `load` again.

    Raises
    ------
    ValueError, TypeError
        If an argument or the data cannot be used; the message names the argument.

    See Also
    --------
    compare : A report on changes between two tables.
    change_point_test : Time at which the rows of one table changed.

    Notes
    -----
    Each score of a new row falls into one of the cells between the ordered scores of the reference.
    Because the cells of independent rows follow Polya's urn, the monitor can bet on them at fair
    odds (e-values).  The wealth of bets that begin at a certain row is the product of the e-values
    since then, and its average over starting rows is a martingale for each score.  Evidence is this
    martingale times the score's share of ``alpha`` (shares sum to 1); an alarm is raised at
    1 / ``alpha`` (Ville's inequality), or with ``run_length``, for sums, at 2 ``run_length``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shrinktest import DriftMonitor
    >>> rng = np.random.default_rng(0)
    >>> def week(income):
    ...     return pd.DataFrame(
    ...         {"income": rng.lognormal(income, 0.4, 70), "region": rng.choice(["a", "b"], 70)}
    ...     )
    >>> monitor = DriftMonitor(pd.concat([week(8.0) for _ in range(4)]), rng=0)
    >>> for number in range(1, 9):
    ...     result = monitor.update(week(8.0 if number < 5 else 8.3), times=f"week {number}")
    >>> for line in result.answer:
    ...     print(line)
    Monitor of 2 columns against 280 reference rows (alpha = .05).
    Alarm at row 312 (week 5), evidence up to 3.87e+12, p = 2.6e-13.
    The change began near row 280 (week 5).
    Changed: income (median 2,961 → 3,924, AUC .69).
    560 rows seen. For intervals compare the reference with rows that arrive from now on.
    """

    @hinted
    def __init__(
        self,
        reference: Any,
        *,
        alpha: float | None = None,
        run_length: float | None = None,
        column_types: Any = None,
        transform: Any = None,
        nan_policy: str = "indicator",
        scores: Any = None,
        rng: Any = None,
    ) -> None:
        if alpha is not None and run_length is not None:
            raise ValueError("alpha and run_length cannot be combined; pass one of them")
        self.alpha = level(0.05 if alpha is None else alpha) if run_length is None else None
        self.run_length = None if run_length is None else positive(run_length, "run_length")
        self.nan_policy = choice(nan_policy, POLICIES, "nan_policy")
        self._types = checked_types(column_types)
        self.transform = _checked_transform(transform)
        self._requested, self._models = requested_shares(scores)
        generator = as_rng(rng)
        self._seed = seed_in_words(rng_provenance(generator))
        self._rng = np.random.default_rng(generator.integers(2**63, size=4).tolist())
        self._taken: list[tuple[str, str]] = []
        self._begin(reference)

    def _begin(self, reference: Any) -> None:
        """Read the reference, and begin a stream."""
        rows = self._in_memory(reference, "reference")
        size = len(rows)
        half = np.zeros(size, dtype=bool)
        half[self._rng.permutation(size)[: size // 2]] = True
        self._width = 1 if np.ndim(rows) == 1 else rows.shape[1]
        if hasattr(self.transform, "fit"):
            self.transform = copy.deepcopy(self.transform).fit(taken(rows, np.flatnonzero(half)))
        table = read_reference(self._transformed(rows, "reference"), self._types)
        for name in self._types:
            choice(name, (*table.names, *table.dropped), "a column in column_types")
        left_out, notes = without_clocks(table, half, tuple(self._types))
        layout = Layout.of(table, left_out)
        values = layout.matrix(table)
        self._digest = sha256(values.tobytes()).hexdigest()
        keep = self._complete(values, "reference")
        if keep.sum() < _FEWEST:
            raise ValueError(
                f"reference has {counted(int(keep.sum()), 'row')}; pass {_FEWEST} or more"
            )
        scored = self._scored(rows, size, "reference")
        fitted = hasattr(self.transform, "fit")
        made = Reference(layout, values[keep], scored[keep], half[keep], fitted)
        self._shares = made.families(self._requested)
        threshold = 1.0 / self.alpha if self.alpha is not None else 2.0 * (self.run_length or 0.0)
        self._stream = made.stream(
            self._shares,
            tuple(self._models),
            threshold,
            rate=self.alpha is None,
            rng=self._rng,
        )
        self._size = int(keep.sum())
        self._notes = list(notes)
        places = np.linspace(0, self._size - 1, min(self._size, _SCANNED)).astype(np.intp)
        self._to_test: tuple[Array, np.ndarray] | None = (
            self._stream.encoder(values[keep][places]),
            np.flatnonzero(keep)[places],
        )
        self._result: MonitorResult | None = None

    # --- rows -------------------------------------------------------------------------------------

    def update(
        self,
        rows: Any,
        *,
        times: Any = None,
        ordered: bool = True,
        source: str | None = None,
        again: bool = False,
    ) -> MonitorResult:
        """Add rows, and return the state after them.

        Parameters
        ----------
        rows : data frame, path, array_like or dict, shape (m, d) or (d,)
            A batch with the columns of the reference, or one row: a dict, or a vector.
        times : scalar or array_like, optional
            Time of the batch, or of each row, such as a date.
        ordered : bool, default True
            Whether the rows are in the order in which they arrived.  If not, they are shuffled,
            because rows that are sorted by a key are no stream.  Results do not depend on how
            ordered rows are divided into batches.
        source : str, optional
            Name of the batch; identical rows are refused under one name a second time.  The default
            for a path is the name of its file.
        again : bool, default False
            Whether to accept them a second time.

        Returns
        -------
        MonitorResult
            The state after the rows.  After an alarm further columns may be named.
        """
        ordered = flag(ordered, "ordered")
        again = flag(again, "again")
        stream = self._stream
        if source is None and isinstance(rows, str | Path):
            source = as_path(rows, "rows").name
        name = source or "rows"
        batch = self._in_memory(rows, name, stream.layout)
        values = stream.layout.read(self._transformed(batch, name), name)
        scored = self._scored(batch, len(values), name)
        labels = _times_of(times, len(values))
        keep = self._complete(values, name)
        self._log(source, values, again=again)
        places = stream.rows + np.arange(len(values))
        if ordered:
            self._note_trends(values)
        else:
            order = self._rng.permutation(len(values))
            values = values[order]
            scored = scored[order]
            keep = keep[order]
            labels = labels and [labels[i] for i in order]
        kept = labels and [labels[i] for i in np.flatnonzero(keep)]
        with np.errstate(under="ignore"):
            evidence = stream.update(values[keep], scored[keep], places[keep], kept)
        stream.count(len(values), evidence, labels[-1] if labels else None)
        if stream.to_scan is not None:
            stream.settle(_location(stream.to_scan))
        self._result = None
        return self.result

    def _in_memory(self, rows: Any, name: str, layout: Layout | None = None) -> Any:
        """Return rows of a file, and dicts of columns, as tables; anything else as it is.

        Rows of a stream have the types of the ``layout`` of its reference.
        """
        if isinstance(rows, str | Path) or in_batches(rows):
            if self.transform is not None or self._models:
                raise TypeError(
                    f"{name} is a file, and transform or scores need rows in memory; read it first"
                )
            types = dict(self._types) if layout is None else layout.types
            return read_if_file(rows, name, types, _MEMORY)
        if isinstance(rows, list | tuple):
            rows = np.asarray(rows)
        if layout is None:
            return as_frame(rows)
        if self.transform is None and not self._models:
            return rows
        rows = as_frame(rows)
        if not is_table(rows) and np.ndim(rows) == 1 and self._width > 1:
            return np.asarray(rows)[np.newaxis]
        return rows

    def _transformed(self, rows: Any, name: str) -> Any:
        if self.transform is None:
            return rows
        function = getattr(self.transform, "transform", self.transform)
        return transformed([rows], function, [name])[0]

    def _scored(self, rows: Any, size: int, name: str) -> Array:
        """Return the scores (n, k) of rows by functions of the user."""
        if not self._models:
            return np.empty((size, 0))
        scores = [np.ravel(real_values(function(rows))) for function in self._models.values()]
        if {len(score) for score in scores} != {size}:
            raise ValueError(f"scores: functions must return a number for every row of {name}")
        return np.stack(scores, axis=1)

    def _complete(self, values: Array, name: str) -> np.ndarray:
        """Return which rows are monitored."""
        missing = np.isnan(values)
        if self.nan_policy == "raise" and missing.any():
            raise ValueError(
                f"{name} has {counted(int(missing.sum()), 'missing value')}; pass "
                "nan_policy='indicator' or 'omit'"
            )
        if self.nan_policy != "omit":
            return np.ones(len(values), dtype=bool)
        return np.asarray(~missing.any(axis=1))

    def _log(self, source: str | None, values: Array, *, again: bool) -> None:
        """Remember rows by their source and content; raise AlreadyTaken for known ones."""
        if source is None:
            return
        entry = (str(source), sha256(values.tobytes()).hexdigest())
        if entry[1] == self._digest and not again:
            raise AlreadyTaken(
                f"source {entry[0]!r} has the rows of the reference; pass again=True to process "
                "them"
            )
        if entry in self._taken and not again:
            raise AlreadyTaken(
                f"source {entry[0]!r} was already processed; pass again=True to repeat"
            )
        self._taken.append(entry)

    def _note_trends(self, values: Array) -> None:
        """Write a note if the ranks of a column go up or down within a batch."""
        if any(text.code == "batch-trends" for text in self._notes):
            return
        layout = self._stream.layout
        places = trending(values, np.flatnonzero(~layout.categorical))
        if places.size:
            names = ", ".join(layout.names[place] for place in places)
            self._notes.append(note("batch-trends", columns=names))

    # --- answers ----------------------------------------------------------------------------------

    @property
    def alarm(self) -> bool:
        """True from the row of the alarm on."""
        return self._stream.first is not None

    @property
    def result(self) -> MonitorResult:
        """State after the last batch."""
        if self._result is None:
            self._result = self._state()
        return self._result

    def _state(self) -> MonitorResult:
        stream = self._stream
        named = sorted(stream.alarms, key=lambda place: -stream.largest[place])
        columns = [place for place in named if stream.scores[place].kind == "column"]
        pairs = [place for place in named if stream.scores[place].kind == "pair"]
        rows = zip(stream.scores, stream.evidence.tolist(), stream.largest.tolist(), strict=True)
        first = stream.first
        shares = [score.share for score in stream.scores if score.kind == "column"]
        share = shares[0] if shares else float(stream.shares.max())
        known = list(self._notes)
        return MonitorResult(
            n_rows=stream.rows,
            evidence=float(stream.evidence.max()),
            largest=float(stream.largest.max()),
            threshold=stream.threshold,
            alpha=self.alpha,
            run_length=self.run_length,
            alarm_row=None if first is None else first.row,
            when=None if first is None else first.when,
            change_row=None if first is None else first.change,
            change_when=None if first is None else first.change_when,
            by=None if first is None else first.label,
            columns=tuple(stream.alarms[place].label for place in columns),
            pairs=tuple(stream.alarms[place].label for place in pairs),
            effects=effects_of(stream, columns),
            scores=tuple(
                {
                    "score": score.name,
                    "kind": score.kind,
                    "share": score.share,
                    "evidence": now,
                    "largest": largest,
                    "alarm_row": stream.alarms[i].row if i in stream.alarms else None,
                }
                for i, (score, now, largest) in enumerate(rows)
            ),
            history=tuple(stream.history),
            sizes=(len(stream.layout.names), self._size),
            smallest_shift=smallest_shift(self._size, stream.threshold / share),
            notes=lambda: (*self._reference_note(), *known),
            recent=recent_of(stream, columns[0]) if columns else None,
            seed=self._seed,
        )

    def _reference_note(self) -> tuple[Note, ...]:
        """Return a note if the rows of the reference change in their order."""
        if self._to_test is not None:
            points, rows = self._to_test
            test = change_point_test(
                points, n_resamples=_RESAMPLES, confidence=None, rng=0, workers=1
            )
            self._to_test = None
            self._of_reference: tuple[Note, ...] = ()
            if test.pvalue < _CHANGES:
                row = int(rows[test.location])
                self._of_reference = (note("reference-changes", row=row, pvalue=test.pvalue),)
        return self._of_reference

    # --- state ------------------------------------------------------------------------------------

    def reset(self, reference: Any) -> None:
        """Begin anew with another, later reference; rows are counted from 0 again."""
        self._begin(reference)

    def save(self, path: str | Path) -> None:
        """Write the state to a file (.npz), from which `load` continues exactly.

        Because functions are not in the file, `load` needs ``transform`` and functions in
        ``scores`` again.
        """
        notes = [(str(text), text.code) for text in (*self._reference_note(), *self._notes)]
        kept = {
            "stream": self._stream,
            "alpha": self.alpha,
            "run_length": self.run_length,
            "nan_policy": self.nan_policy,
            "types": list(self._types.items()),
            "requested": self._requested,
            "models": list(self._models),
            "transformed": self.transform is not None,
            "width": self._width,
            "size": self._size,
            "taken": self._taken,
            "digest": self._digest,
            "notes": notes,
            "rng": self._rng,
            "seed": self._seed,
        }
        state.write(path, kept)

    @classmethod
    def load(cls, path: str | Path, *, transform: Any = None, scores: Any = None) -> DriftMonitor:
        """Continue from a file of `save`.

        Parameters
        ----------
        path : path
            The file that was written.
        transform : transformer or callable, optional
            The attribute ``transform`` of the monitor that was saved, if it had one.
        scores : str, callable, list of these, or dict, optional
            The argument ``scores`` of the monitor that was saved, if functions were among them.
        """
        kept = state.read(as_path(path, "path"), CLASSES)
        monitor = cls.__new__(cls)
        _, monitor._models = requested_shares(scores)
        if list(monitor._models) != kept["models"]:
            names = listed(kept["models"]) or "no function"
            raise ValueError(f"scores must have the functions of the saved monitor: {names}")
        if (transform is not None) != kept["transformed"]:
            has = "has a" if kept["transformed"] else "has no"
            raise ValueError(f"transform: the saved monitor {has} transform; pass the same")
        monitor.transform = _checked_transform(transform)
        monitor._stream = kept["stream"]
        monitor.alpha = kept["alpha"]
        monitor.run_length = kept["run_length"]
        monitor.nan_policy = kept["nan_policy"]
        monitor._types = dict(kept["types"])
        monitor._requested = kept["requested"]
        monitor._width = kept["width"]
        monitor._size = kept["size"]
        monitor._taken = [tuple(entry) for entry in kept["taken"]]
        monitor._digest = kept["digest"]
        monitor._notes = [Note(text, code) for text, code in kept["notes"]]
        monitor._rng = kept["rng"]
        monitor._seed = kept.get("seed", "")
        monitor._to_test = None
        monitor._of_reference = ()
        monitor._result = None
        return monitor

    def __repr__(self) -> str:
        bound = f"run_length={self.run_length:g}" if self.alpha is None else f"alpha={self.alpha:g}"
        return f"DriftMonitor({bound}, rows={self._stream.rows}, alarm={self.alarm})"


def _checked_transform(transform: Any) -> Any:
    """Return a transformer, a function or "hellinger"; raise TypeError for anything else."""
    if isinstance(transform, str) and transform == "hellinger":
        return transform
    usable = hasattr(transform, "transform") or callable(transform)
    if transform is not None and (not usable or isinstance(transform, type)):
        raise TypeError(
            f"transform must be a scikit-learn transformer or a function of rows; got {transform!r}"
        )
    return transform


def _times_of(times: Any, size: int) -> list[str] | None:
    """Return the times of rows as text, dates without hours at midnight."""
    if times is None:
        return None
    entries = [times] * size if np.ndim(times) == 0 else list(times)
    if len(entries) != size:
        rows = counted(size, "row")
        raise ValueError(f"times has {len(entries)} entries for {rows}; pass one each")
    return [_MIDNIGHT.sub("", str(entry)) for entry in entries]


def _location(points: Array) -> int:
    """Return the most likely first row after a change."""
    test = change_point_test(points, trim=_TRIM, n_resamples=0, confidence=None, rng=0, workers=1)
    return int(test.location or 0)
