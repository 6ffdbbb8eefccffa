"""Sizes of memory, as people write them."""

import pytest

from mercer._base.memory import GIB
from mercer.app.tables.table import TableError
from mercer.app.tables.task import bytes_of


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4e9), ("1.5 GiB", 1.5 * GIB), ("500mb", 5e8), ("1024", 1024.0)],
)
def test_sizes(text: str, size: float) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "much", "infGB"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(TableError, match="--memory must be a size"):
        bytes_of(text)
