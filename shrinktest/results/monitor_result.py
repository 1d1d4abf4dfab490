"""Result of a monitor: evidence against the reference after the rows seen so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shrinktest._check import counted, level, output_path
from shrinktest.results.base import Notes, Result
from shrinktest.results.columns import MEDIAN, POSITION, ColumnEffects
from shrinktest.results.paragraph import paragraph
from shrinktest.results.plots.evidence import plot_evidence
from shrinktest.results.printing import Summary, Table, number, shown_pvalue, without_zero
from shrinktest.results.references import cited

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 8  # scores of a summary
_COLUMNS = 5  # named columns in words
_PAGE = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Monitor</title></head>\n'
    "<body>{body}</body></html>\n"
)


@dataclass(frozen=True, eq=False)
class Recent:
    """The last values of a column, for a picture."""

    name: str
    kind: str
    rows: np.ndarray  # (m,): numbers of the rows
    values: np.ndarray  # (m,): NaN if missing
    level: str = ""  # of which values are the indicator


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MonitorResult(Result):
    """Result of :class:`DriftMonitor`: evidence, alarm, and columns that changed.

    Attributes
    ----------
    n_rows : int
        Number of rows so far.
    evidence, largest : float
        Largest evidence of all scores now, and so far.
    threshold : float
        Evidence at which an alarm is raised: 1 / alpha, or twice the run length.
    alpha, run_length : float or None
        Bounds on false alarms; one of the two is None.
    alarm_row, change_row : int or None
        Row of the alarm, and estimated first row after the change, counted from 0.
    when, change_when : str or None
        Times of these rows, if times were passed.
    by : str or None
        The score that raised the alarm.
    columns, pairs : tuple of str
        Columns that changed, and pairs of columns that changed together, in the order of evidence.
        If ``alpha`` was passed, the probability that any is named falsely is at most ``alpha``.
    effects : tuple of ColumnEffects
        Differences of the named columns from the reference since the change.
    scores : tuple of dict
        The rows of ``table``.
    history : tuple of dict
        Rows seen after every batch, its largest evidence, and its time.
    sizes : tuple of int
        Numbers of monitored columns and of reference rows.
    smallest_shift : float
        Shift of a normal column, in standard deviations, that a monitor with this reference detects
        in about 4 of 5 streams if it begins with the first row.
    notes : tuple of str
        Assumptions that may fail.
    recent : Recent or None
        The last values of the column with the largest evidence, for ``plot``.
    seed : str
        Seed of the random numbers, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import DriftMonitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = DriftMonitor(rng.normal(size=(200, 2)), rng=0)
    >>> result = monitor.update(rng.normal(size=(100, 2)))
    >>> result.alarm, result.n_rows
    (False, 100)
    >>> result = monitor.update(rng.normal([2.0, 0.0], 1.0, size=(100, 2)))
    >>> result.alarm, result.columns
    (True, ('0',))
    """

    n_rows: int
    evidence: float
    largest: float
    threshold: float
    alpha: float | None
    run_length: float | None
    alarm_row: int | None = None
    when: str | None = None
    change_row: int | None = None
    change_when: str | None = None
    by: str | None = None
    columns: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    effects: tuple[ColumnEffects, ...] = ()
    scores: tuple[dict[str, Any], ...] = ()
    history: tuple[dict[str, Any], ...] = ()
    sizes: tuple[int, int] = (0, 0)
    smallest_shift: float = 0.0
    notes: Any = Notes()  # noqa: RUF009  # a descriptor: a tuple of texts
    recent: Recent | None = field(default=None, compare=False)
    seed: str = ""

    computed: ClassVar[tuple[str, ...]] = ("pvalue", "alarm")

    def __repr__(self) -> str:
        shown = f"n_rows={self.n_rows}, evidence={self.evidence:.4g}, alarm={self.alarm}"
        return f"MonitorResult({shown})"

    def __bool__(self) -> bool:
        raise ValueError("MonitorResult is neither true nor false; use result.alarm")

    @property
    def alarm(self) -> bool:
        """True from the row of the alarm on."""
        return self.alarm_row is not None

    @property
    def pvalue(self) -> float | None:
        """Anytime-valid p-value, 1 / largest evidence so far; None with ``run_length``."""
        if self.alpha is None:
            return None
        return 1.0 / max(self.largest, 1.0)

    def reject(self, alpha: float | None = None) -> bool:
        """Return True after an alarm, or if the p-value is at most ``alpha``."""
        if alpha is None:
            return self.alarm
        if self.pvalue is None:
            raise ValueError("alpha: a monitor with run_length has no p-value; leave alpha out")
        return self.pvalue <= level(alpha)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``: scores with shares, evidence, and row of alarm."""
        return [dict(score) for score in self.scores]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names."""
        hidden = ("recent", "effects")
        names = [name for name in self.__dataclass_fields__ if name not in hidden]
        effects = [column.to_dict(change) for column in self.effects for change in column.changes]
        return self._plain(*names, *self.computed) | {"effects": effects}

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the summary and the picture (matplotlib) as one page.

        It is written to ``path``, too, if there is one.
        """
        from io import StringIO

        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        self.plot(figure=figure)
        picture = StringIO()
        figure.savefig(picture, format="svg")
        svg = picture.getvalue()
        text = _PAGE.format(body=self.summary().as_html() + svg[svg.index("<svg") :])
        if path is not None:
            output_path(path, "path").write_text(text, encoding="utf-8")
        return text

    def plot(self, *, figure: Figure | None = None) -> np.ndarray:
        """Draw evidence after every batch, and the column that changed (matplotlib).

        ``figure`` is where to draw.  Returns an ndarray of Axes.
        """
        return plot_evidence(self, figure)

    # --- in words ---------------------------------------------------------------------------------

    def paragraph(self) -> str:
        """Return two to four sentences for an article: method, alarm, and software."""
        columns, size = self.sizes
        bound = (
            f"mean run length of at least {self.run_length:,.15g} rows"
            if self.alpha is None
            else f"probability of a false alarm at most {without_zero(f'{self.alpha:.15g}')}"
        )
        return paragraph(
            f"A stream of {counted(self.n_rows, 'row')} was monitored",
            f"betting on the cells of {len(self.scores)} scores",
            [
                f"{counted(columns, 'column')} against {size:,} reference rows",
                f"e-values of Pólya's urn{cited(('H84', 'V39'))}",
                bound,
            ],
            [self._finding()],
            self.versions,
            self.seed,
        )

    def _finding(self) -> str:
        pvalue = "" if self.pvalue is None else f", p = {shown_pvalue(self.pvalue)}"
        shown = f"evidence up to {_evidence(self.largest)}{pvalue}"
        if not self.alarm:
            return f"there was no alarm ({shown}; threshold {self.threshold:,.4g})"
        began = "" if self.change_row is None else ", and the change began near row "
        began += _place(self.change_row, self.change_when) if began else ""
        changed = [f"{line[:1].lower()}{line[1:].rstrip('.')}" for line in self._changed()]
        more = f"; {'; '.join(changed)}" if changed else ""
        row = _place(self.alarm_row, self.when)
        return f"an alarm was raised at row {row} ({shown}){began}{more}"

    def _sources(self) -> tuple[str, ...]:
        return ("H84", "V39")

    def summary(self) -> Summary:
        """Return the answer in words, and the scores with the largest evidence."""
        ranked = sorted(self.scores, key=lambda score: -score["largest"])
        rows = []
        for score in ranked[:_SHOWN]:
            row = score["alarm_row"]
            rows.append(
                (
                    score["score"],
                    score["kind"],
                    f"{score['share']:.3g}",
                    _evidence(score["evidence"]),
                    _evidence(score["largest"]),
                    "-" if row is None else str(row),
                )
            )
        headers = ("score", "kind", "share", "evidence", "largest", "alarm in row")
        title = f"{len(rows)} of {len(self.scores)} scores" if len(rows) < len(self.scores) else ""
        table = Table(rows, "llrrrr", headers, gap="  ", title=title)
        return Summary.of(table, head=self.answer, notes=self.notes)

    @property
    def answer(self) -> tuple[str, ...]:
        """The answer in sentences."""
        columns, size = self.sizes
        bound = (
            f"run length {self.run_length:,.15g}"
            if self.alpha is None
            else f"alpha = {without_zero(f'{self.alpha:.15g}')}"
        )
        first = (
            f"Monitor of {counted(columns, 'column')} against {size:,} reference rows ({bound})."
        )
        seen = f"{self.n_rows:,} {'row' if self.n_rows == 1 else 'rows'} seen."
        if not self.alarm:
            shown = "" if self.pvalue is None else f" (p = {shown_pvalue(self.pvalue)})"
            return (
                first,
                f"No alarm: evidence {_evidence(self.evidence)} now, {_evidence(self.largest)} at "
                f"most{shown}; the alarm is at {self.threshold:,.4g}. {seen}",
                f"A shift of one column by {without_zero(f'{self.smallest_shift:.2f}')} standard "
                "deviations from the first row on would be found in about 4 of 5 streams.",
            )
        shown = "" if self.pvalue is None else f", p = {shown_pvalue(self.pvalue)}"
        by = "" if self.by in self.columns else f", by {self.by}"
        return (
            first,
            f"Alarm at row {_place(self.alarm_row, self.when)}, evidence up to "
            f"{_evidence(self.largest)}{shown}{by}.",
            *self._change(),
            *self._changed(),
            f"{seen} For intervals compare the reference with rows that arrive from now on.",
        )

    def _change(self) -> tuple[str, ...]:
        if self.change_row is None:
            return ()
        return (f"The change began near row {_place(self.change_row, self.change_when)}.",)

    def _changed(self) -> list[str]:
        """Return the named columns with their effects, and the pairs."""
        lines = []
        if self.columns:
            words = [
                _effect(name, effect)
                for name, effect in zip(self.columns, self.effects, strict=True)
            ]
            lines.append(f"Changed: {_some(words)}.")
        if self.pairs:
            lines.append(f"Changed together: {_some(self.pairs)}.")
        return lines


def _some(words: Sequence[str]) -> str:
    more = f", and {len(words) - _COLUMNS} more" if len(words) > _COLUMNS else ""
    return f"{', '.join(words[:_COLUMNS])}{more}"


def _place(row: int | None, time: str | None) -> str:
    return f"{row}" if time is None else f"{row} ({time})"


def _evidence(value: float) -> str:
    return f"{value:,.0f}" if 100.0 <= value < 1e6 else number(value, ".3g")


def _effect(name: str, column: ColumnEffects) -> str:
    """Return a column with its largest change, without an interval."""
    if not column.changes:
        return name
    change = column.changes[0]
    text = column.values(change)
    if change.what in (MEDIAN, POSITION):
        text += f", AUC {without_zero(f'{change.estimate:.2f}')}"
    return f"{column.name} ({text})"
