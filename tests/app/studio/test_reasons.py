"""Why a row is asked: readable rows, and the words that matter marked."""

from pathlib import Path

import numpy as np
import pandas as pd

from mercer.app.studio.engine import Snapshot
from mercer.app.studio.reasons import why
from mercer.app.studio.service import Studio
from studio_at_hand import FixedEngine, small_studio

FILL = "we have been customers of the shop in our town for many years now and "


class PullingEngine(FixedEngine):
    """Two rows pull every other one."""

    def why(self, row: int, n: int) -> list[tuple[int, int, float]]:
        return [(0, 0, 2.0), (1, 1, 1.0)]


def texts(tmp_path: Path) -> Studio:
    ends = ["the printer jams", "the bill was doubled", "my printer is broken"]
    ends += ["all is fine"] * 17
    frame = pd.DataFrame(
        {
            "code": [f"r{k}" for k in range(20)],
            "comment": [8 * FILL + end for end in ends],
            "country": ["Spain", "France", "Spain"] + ["Italy"] * 17,
            "nothing": [None] * 20,
        }
    )
    proba = np.tile([0.6, 0.4], (20, 1))
    snapshot = Snapshot(
        stage="", classes=(0, 1), proba=proba, n_labels=2, questions=np.arange(2, 20)
    )
    return small_studio(tmp_path, frame, engine=PullingEngine(snapshot))


def test_shared_words_that_few_rows_have_are_named(tmp_path: Path) -> None:
    studio = texts(tmp_path)
    assert studio.items.texts == ["comment"]
    assert "nothing" not in studio.items.columns  # no row has a value there
    found = why(studio, 2)
    assert found["words"] == ["printer"]  # "customers" is in all rows, "broken" in one
    assert [pull["id"] for pull in found["pulls"]] == ["r0", "r1"]
    assert found["pulls"][1]["cells"][1] == {
        "name": "country",
        "value": "France",
        "length": 6,
    }


def test_words_are_marked_and_reasons_name_what_differs(tmp_path, start, visit) -> None:
    studio = texts(tmp_path)
    page = visit(start(studio))
    page.wait_for_selector("#item mark")
    assert page.inner_text("#item mark") == "printer"
    page.keyboard.press("w")
    page.wait_for_selector("#reasons li")
    first, second = page.locator("#reasons li").all_inner_texts()
    assert "Equal in all other columns." in first
    assert "Differs in country: France, here Spain." in second
    assert page.locator("#reasons li").nth(0).bounding_box()["width"] > 400


def test_nothing_is_marked_in_a_row_that_is_judged_blindly(
    tmp_path, start, visit
) -> None:
    studio = texts(tmp_path)
    with studio.writing() as transaction:
        transaction.claim("r2", "ann", "check")
    page = visit(start(studio), "ann")
    page.wait_for_timeout(500)
    assert page.locator("#item mark").count() == 0
    assert page.evaluate("mercer.map.current") is None  # no ring around its colour
    assert not any(page.locator("#classes .percent").all_inner_texts())
    page.keyboard.press("w")
    page.wait_for_function(
        "() => document.getElementById('reasons').textContent.includes('at random')"
    )
    assert page.locator("#item mark").count() == 0
