"""A sheet to fill in: the rows to label with all their columns, as CSV and Excel."""

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.typing import FloatArray, IntArray
from mercer.app.tables.table import Table
from mercer.app.tables.writing import write_csv

FILES = ("to_label.csv", "to_label.xlsx")
# What the sheet calls the rows of a table without ids: their numbers, from 1.
ROW = "row"
GUESS, PROBABILITY = "best guess", "probability"
# Longest list of classes that a cell of Excel can offer, in characters.
_OFFERED = 255
# Columns that a sheet of Excel can hold; the CSV has them all.
_COLUMNS = 16_384
# Height of a picture in the workbook, in pixels.
_PICTURE = 64


def write_sheets(
    folder: Path,
    table: Table,
    ids: Any,
    rows: IntArray,
    *,
    target: str,
    id: str | None,
    proba: FloatArray,
    classes: Any,
) -> list[Path]:
    """Write rows with an empty cell for the label, the best guess and all columns.

    The rows come in their order, and `proba` is theirs. The column `target` is to be
    filled in, and `id` names the rows. The sheet is written as CSV, and as a workbook.
    """
    name = id or ("file" if "file" in table.frame.columns else ROW)
    some = table.frame.iloc[rows].reset_index(drop=True)
    best = proba.argmax(axis=1)
    first = {
        name: np.asarray(ids)[rows],
        target: [""] * len(rows),
        GUESS: [str(c) for c in np.asarray(classes)[best]],
        PROBABILITY: np.round(proba.max(axis=1).astype(float), 3),
    }
    rest = some.drop(columns=[c for c in first if c in some.columns])
    frame = pd.concat([pd.DataFrame(first), rest], axis=1)
    text, book = (folder / name for name in FILES)
    write_csv(frame, text)
    pictures = [table.picture(int(row)) for row in rows]
    write_workbook(frame, book, target=target, classes=classes, pictures=pictures)
    return [text, book]


def write_workbook(
    frame: pd.DataFrame,
    path: Path,
    *,
    target: str,
    classes: Any,
    pictures: Sequence[FloatArray | None] = (),
) -> None:
    """Write a sheet of Excel that offers the classes in the cells to fill in.

    No cell is a formula, whatever it starts with. Columns beyond the most that Excel
    holds are left out. Pictures of the rows, (height, width, colours) in [0, 1], are
    placed after the last column.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Font, PatternFill
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    page = book.active
    page.title = "to label"
    page.freeze_panes = "C2"
    place = list(frame.columns).index(target)
    fill = PatternFill("solid", fgColor="FFF4CE")
    for k, name in enumerate(frame.columns[:_COLUMNS], 1):
        letter = get_column_letter(k)
        page.column_dimensions[letter].width = 22 if k <= place + 1 else 14
        for row, value in enumerate([str(name), *frame[name]], 1):
            cell = page.cell(row, k, _plain(value))
            if isinstance(value, str):
                cell.data_type = "s"  # not a formula
            if row == 1:
                cell.font = Font(bold=True)
            elif k == place + 1:
                cell.fill = fill
    offered = ",".join(str(c) for c in classes)
    if len(offered) <= _OFFERED and '"' not in offered and len(frame):
        letter = get_column_letter(place + 1)
        choice = DataValidation("list", formula1=f'"{offered}"', allow_blank=True)
        choice.showErrorMessage = False  # a new class may be written, too
        choice.add(f"{letter}2:{letter}{len(frame) + 1}")
        page.add_data_validation(choice)
    letter = get_column_letter(min(len(frame.columns), _COLUMNS - 1) + 1)
    for row, picture in enumerate(pictures, 2):
        if picture is not None:
            page.add_image(_drawn(picture), f"{letter}{row}")
            page.row_dimensions[row].height = 0.8 * _PICTURE  # points, not pixels
    book.save(path)


def _drawn(picture: FloatArray) -> Any:
    """Return a picture as Excel takes it, of one height for all."""
    from openpyxl.drawing.image import Image as Drawing
    from PIL import Image

    pixels = np.round(255 * picture).astype(np.uint8)
    image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    width = max(_PICTURE * image.width // image.height, 1)
    data = io.BytesIO()
    how = Image.Resampling.NEAREST if image.height < _PICTURE else None
    image.resize((width, _PICTURE), how).save(data, "PNG")
    return Drawing(data)


def _plain(value: Any) -> Any:
    """Return a cell as Excel can hold it."""
    if pd.isna(value) is True:
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str):
        # The most that a cell holds, without characters that XML forbids.
        return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", " ", value)[:32_767]
    return value if isinstance(value, bool | int | float) else str(value)
