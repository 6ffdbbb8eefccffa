"""The two views of the course pages: words of the page, words of links to it."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import hstack

from mercer._base.typing import SparseArray
from mercer_studies.data.arrays import Arrays, as_matrix

VIEWS = {"page": ["page"], "link": ["link"], "page+link": ["page", "link"]}
PICKS = {
    "frequent": {"page": "page_df3000", "link": "link_df1840"},
    "informative": {"page": "page_ig3000", "link": "link_ig1840"},
    "all": {},
}


def webkb_matrix(
    arrays: Arrays, *, view: str, columns: str, dtype: DTypeLike
) -> tuple[SparseArray, NDArray[Any]]:
    """Return word counts and words of a view; see `mercer_studies.data.load`."""
    if view not in VIEWS or columns not in PICKS:
        msg = (
            f"webkb_course has the views {list(VIEWS)} and the columns {list(PICKS)}; "
            f"got view={view!r}, columns={columns!r}."
        )
        raise ValueError(msg)
    blocks, words = [], []
    for part in VIEWS[view]:
        X = as_matrix(arrays, dtype=dtype, prefix=f"{part}_")
        pick = PICKS[columns].get(part)
        kept = np.arange(X.shape[1]) if pick is None else arrays[pick]
        blocks.append(X[:, kept])
        words.append(arrays[f"{part}_vocab"][kept])
    return hstack(blocks, format="csr"), np.concatenate(words)
