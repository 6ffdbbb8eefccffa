"""Why cells are worse: sentences beside the printed figures."""

from fnmatch import fnmatchcase

import pytest

from mercer_studies.causes import NOT_EXPLAINED, Cause, explain, known_causes
from mercer_studies.registry import studies
from mercer_studies.study import Figure, Study
from mercer_studies.table import make_table

PRINTED = {(row, "A"): Figure(99.0, 0.1, 10) for row in ("one", "two", "three")}
RESULTS = {
    "one": [{"A": 90.0}, {"A": 91.0}],
    "two": [{"A": 90.0}, {"A": 91.0}],
    "three": [{"A": 98.9}, {"A": 99.1}],
}


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(Study, "printed", lambda self: PRINTED)
    return make_table(Study("999", "table1", "", lambda _: []), RESULTS)


def test_worse_cells_are_grouped_by_the_first_cause_that_covers_them(table):
    causes = [
        Cause("999_table1", ("on*",), ("A",), "The moon was full."),
        Cause("999_table1", ("*",), ("B",), "Never."),
        Cause("999_table1", ("one",), ("*",), "Too late."),
        Cause("999_table2", ("*",), ("*",), "Another table."),
    ]
    moon, rest = explain(table, causes)
    assert moon.sentence() == "one: A. The moon was full."
    assert moon.explained
    assert rest.cells == (("two", "A"),)
    assert rest.text == NOT_EXPLAINED
    assert not rest.explained


def test_a_cause_can_admit_that_it_is_not_the_whole_one(table):
    (group,) = explain(
        table, [Cause("999_table1", ("*",), ("*",), "Perhaps.", explained=False)]
    )
    assert group.sentence() == "one: A; two: A. Perhaps."
    assert not group.explained


@pytest.mark.parametrize("cause", known_causes(), ids=lambda c: f"{c.study} {c.rows}")
def test_every_cause_is_about_printed_figures(cause):
    (study,) = [s for s in studies() if s.id == cause.study]
    rows, columns = zip(*study.printed(), strict=True)
    assert cause.text.endswith(".")
    assert any(cause.covers(row, column) for row, column in study.printed())
    for pattern in cause.rows:
        assert any(fnmatchcase(row, pattern) for row in rows), pattern
    for pattern in cause.columns:
        assert any(fnmatchcase(column, pattern) for column in columns), pattern
