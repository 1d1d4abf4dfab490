"""The table of notes: every code is used, and every text is short."""

from __future__ import annotations

import re
from pathlib import Path

import shrinktest
from shrinktest.notes import TEXTS, Note, has_code, note

SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in Path(shrinktest.__file__).parent.rglob("*.py"))


def test_every_code_has_a_short_text_and_is_used():
    for code, text in TEXTS.items():
        assert re.fullmatch("[a-z-]+", code) and len(text.split()) <= 40, code
        assert SOURCE.count(f'"{code}"') > 1, code  # in the table, and where it is noted
    assert set(re.findall(r'\bnote\(\s*"([^"]+)"', SOURCE)) <= set(TEXTS)


def test_notes_are_filtered_by_their_codes():
    made = note("few-units", where="There are", count=3, units="groups", what="the level", least=10)
    assert isinstance(made, Note) and made == "There are only 3 groups; the level was measured from 10 on."
    assert (
        has_code(made, "rounding", "few-units") and not has_code(made, "rounding") and not has_code("text", "rounding")
    )
