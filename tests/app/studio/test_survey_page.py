"""Rows of a survey, many columns with long names, labelled by keys in a browser."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mercer.app.studio.items import Items
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task
from studio_at_hand import answered, labels, small_studio, trained

QUESTION = "How often did you use public transport on the way to work last year?"


def survey(n: int) -> pd.DataFrame:
    """Return answers from 1 to 5 to 18 questions."""
    answers = np.random.default_rng(0).integers(1, 6, (n, 18))
    frame = pd.DataFrame(answers, columns=[f"{QUESTION} [{k}]" for k in range(18)])
    frame.insert(0, "code", [f"r{k}" for k in range(n)])
    return frame


def test_names_get_room_beside_short_values() -> None:
    short, long = survey(20), survey(20)
    long[long.columns[1]] = "a sentence of twenty-six"
    items = [Items(as_table(f, "t.csv"), Task(id="code")) for f in (short, long)]
    assert [one.names for one in items] == [70, 70]  # most values are short
    long[long.columns[2:]] = "a sentence of twenty-six"
    other = Items(as_table(long, "t.csv"), Task(id="code"))
    assert other.names == 40
    assert other.lines > items[0].lines  # names are broken into more lines


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_row_is_read_on_by_keys(
    width: int, tmp_path: Path, start: Any, visit: Any
) -> None:
    studio = small_studio(tmp_path, survey(30))
    page = visit(start(studio), viewport={"width": width, "height": 860})
    scrolled = "document.getElementById('item').scrollTop"
    name = page.locator("#item dt >> nth=0").bounding_box()
    assert name["width"] > 0.5 * page.locator("#item").bounding_box()["width"]
    page.keyboard.press("Space")
    page.wait_for_function(f"() => {scrolled} > 100")
    assert page.evaluate("scrollY") == 0  # the buttons stay where they are
    page.keyboard.press("Shift+Space")
    page.wait_for_function(f"() => {scrolled} === 0")
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => {scrolled} > 100")
    page.keyboard.press("1")
    answered(page, 1)
    assert page.evaluate(scrolled) == 0  # the next one begins at its top


def test_keys_that_come_quickly_answer_each_row_once(
    tmp_path: Path, start: Any, visit: Any
) -> None:
    """Rows came twice while their answers were on their way."""
    n = 120
    engine = trained(n)
    object.__setattr__(engine.snapshot, "seconds", 9.0)  # the next row comes at once
    studio = small_studio(tmp_path, survey(n), engine=engine)
    page = visit(start(studio, rate=1e4))
    keys = np.random.default_rng(1).integers(1, 3, n)
    shown = []
    for key in keys:
        shown.append(page.evaluate("mercer.question.shown.id"))
        page.keyboard.press(str(key))
        page.wait_for_function("r => mercer.question.shown?.id !== r", arg=shown[-1])
    answered(page, n)
    assert len(set(shown)) == n
    assert labels(studio) == {
        row: key - 1 for row, key in zip(shown, keys.tolist(), strict=True)
    }
