"""Where a column becomes a text, and where it is meant to hold numbers."""

import numpy as np
import pandas as pd
import pytest

from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.reading import read_table
from mercer.app.tables.table import as_table

WORDS = ["red", "blue", "green", "dog", "cat", "sun", "rain", "tree"]


@pytest.mark.parametrize(("n_words", "kind"), [(3, "many categories"), (4, "text")])
def test_four_words_make_a_text(n_words: int, kind: str) -> None:
    rng = np.random.default_rng(0)
    cells = [" ".join(rng.choice(WORDS, n_words)) for _ in range(200)]
    frame = pd.DataFrame({"size": np.arange(200.0), "said": cells})
    encoder = TableEncoder().fit(as_table(frame))
    kinds = {note.column: note.kind for note in encoder.notes_}
    assert kinds["said"] == kind


@pytest.mark.parametrize(("n_words", "is_number"), [(20, True), (21, False)])
def test_four_cells_of_five_make_a_column_of_numbers(
    tmp_path, n_words: int, is_number: bool
) -> None:
    """Of 100 cells that are all different, 20 and 21 are words."""
    cells = [f"{k}.5" for k in range(100 - n_words)] + [
        f"x{k}y" for k in range(n_words)
    ]
    path = tmp_path / "t.csv"
    pd.DataFrame({"size": cells, "k": range(100)}).to_csv(path, index=False)
    if is_number:
        with pytest.raises(ValueError, match="column 'size' holds numbers, but"):
            read_table(path)
    else:
        assert not pd.api.types.is_numeric_dtype(read_table(path).frame["size"])
