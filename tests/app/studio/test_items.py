"""What the page of the studio shows of a row."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mercer.app.studio.items import Items
from mercer.app.studio.state import notices_of
from mercer.app.tables.reading import read_table
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


def colour_of(png: bytes) -> tuple[int, ...]:
    return Image.open(io.BytesIO(png)).convert("RGB").getpixel((0, 0))


@pytest.fixture
def photos(tmp_path: Path) -> list[tuple[int, int, int]]:
    """Three photographs in a folder, and a picture that is in none."""
    colours = [(250, 0, 0), (0, 250, 0), (0, 0, 250)]
    (tmp_path / "in").mkdir()
    for k, colour in enumerate(colours):
        Image.new("RGB", (900, 600), colour).save(tmp_path / "in" / f"{k}.png")
    Image.new("RGB", (9, 9)).save(tmp_path / "secret.png")
    return colours


def test_pictures_of_a_column_of_paths_are_shown(tmp_path: Path, photos: list) -> None:
    """Rows showed the names of the files."""
    paths = ["0.png", "1.png", "2.png", *["0.png"] * 20, "gone.png", "../secret.png"]
    frame = pd.DataFrame({"n": range(25), "photo": paths})
    items = Items(as_table(frame, str(tmp_path / "in" / "t.csv")), Task())
    assert items.has_images
    assert [items.show(row)["image"] for row in (0, 2, 23, 24)] == [1, 1, 0, 0]
    assert [colour_of(items.image(row)) for row in range(3)] == photos
    assert Image.open(io.BytesIO(items.image(0))).size == (512, 341)
    assert Image.open(io.BytesIO(items.image(0, 4096))).size == (900, 600)
    for row in (23, 24):  # thumbnails of other rows stay
        assert Image.open(io.BytesIO(items.image(row))).size == (1, 1)


@pytest.mark.parametrize("form", ["bytes", "records"])
def test_pictures_in_cells_are_shown(tmp_path: Path, photos: list, form: str) -> None:
    cells = [(tmp_path / "in" / f"{k}.png").read_bytes() for k in range(3)]
    if form == "records":
        cells = [{"bytes": cell, "path": "x.png"} for cell in cells]
    table = as_table(pd.DataFrame({"photo": [*cells, None], "n": range(4)}))
    items = Items(table, Task())
    assert [items.show(row)["image"] for row in range(4)] == [1, 1, 1, 0]
    assert [colour_of(items.image(row)) for row in range(3)] == photos


def test_photographs_are_turned_as_the_camera_was(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    turned = Image.Exif()
    turned[0x0112] = 6  # a quarter
    for k in range(3):
        Image.new("RGB", (80, 60)).save(folder / f"{k}.jpg", exif=turned)
    items = Items(read_table(folder), Task())
    assert Image.open(io.BytesIO(items.image(0))).size == (60, 80)


def test_a_row_in_short_begins_with_what_people_wrote() -> None:
    """Answers of a survey filled the line, and its words were cut."""
    words = "the app has crashed each time that I opened it this week"
    frame = pd.DataFrame({"age": [30, 41], "town": ["Ulm", "Bonn"], "words": words})
    items = Items(as_table(frame), Task())
    assert items.snippet(1) == f"{words} · 41 · Bonn"
