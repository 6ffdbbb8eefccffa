"""What the page of the studio shows of a row."""

import io

import numpy as np
import pytest
from PIL import Image

from mercer.studio.items import Items
from mercer.tables.table import TableError, as_table


@pytest.mark.parametrize("colours", [1, 3])
def test_a_row_of_an_array_of_pictures_is_a_picture(colours: int) -> None:
    shape = (4, 8, 12) if colours == 1 else (4, 8, 12, 3)
    pixels = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
    data = {"label": ["a", "b", "", ""], "codes": np.zeros((4, 2)), "photo": pixels}
    items = Items(as_table(data), "label")
    assert items.show(2)["image"]
    shown = Image.open(io.BytesIO(items.image(2)))
    assert shown.size == (12, 8)
    np.testing.assert_allclose(np.asarray(shown), pixels[2], atol=1)


def test_a_table_without_pictures_has_none() -> None:
    items = Items(as_table({"label": ["a", ""], "x": np.zeros((2, 3))}), "label")
    assert not items.show(0)["image"]
    with pytest.raises(TableError, match="has no images"):
        items.image(0)
