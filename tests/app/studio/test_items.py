"""What the page of the studio shows of a row."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mercer.app.studio.items import Items
from mercer.app.studio.state import notices_of
from mercer.app.tables.table import TableError, as_table
from mercer.app.tables.task import Task
from studio_at_hand import rows, small_studio


@pytest.mark.parametrize("colours", [1, 3])
def test_a_row_of_an_array_of_pictures_is_a_picture(colours: int) -> None:
    shape = (4, 8, 12) if colours == 1 else (4, 8, 12, 3)
    pixels = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
    data = {"label": ["a", "b", "", ""], "codes": np.zeros((4, 2)), "photo": pixels}
    items = Items(as_table(data), Task())
    assert items.show(2)["image"]
    shown = Image.open(io.BytesIO(items.image(2)))
    assert shown.size == (12, 8)
    np.testing.assert_allclose(np.asarray(shown), pixels[2], atol=1)


def test_a_table_without_pictures_has_none() -> None:
    items = Items(as_table({"label": ["a", ""], "x": np.zeros((2, 3))}), Task())
    assert not items.show(0)["image"]
    with pytest.raises(TableError, match="has no images"):
        items.image(0)


def test_labels_of_a_file_are_read_as_the_command_reads_them(tmp_path: Path) -> None:
    """NA was a class, whose rows were labelled, and Yes and yes were two."""
    frame = rows(8).assign(label=["yes", "Yes ", "yes", "no", "NA", "?", "", None])
    studio = small_studio(tmp_path, frame, classes=())
    found = [(one["name"], one["count"]) for one in studio.state()["classes"]]
    assert found == [("no", 1), ("yes", 3)]
    assert studio.next("ann")["id"] in {"r4", "r5", "r6", "r7"}
    assert notices_of(studio) == [
        "In the target 'label', read as no label: 'NA' (1 row), '?' (1 row).",
        "In the target 'label', read as 'yes' (2): 'Yes' (1).",
    ]
    numbers = rows(4).assign(label=[0.0, 1.0, np.nan, np.nan])
    (tmp_path / "b").mkdir()
    other = small_studio(tmp_path / "b", numbers, classes=())
    assert list(other.store.ledger.classes.values()) == ["0", "1"]
    prices = rows(4).assign(label=[1.5, 2.25, np.nan, np.nan])
    with pytest.raises(TableError, match="Is it a measurement"):
        small_studio(tmp_path / "b", prices, classes=())
