"""Load a data set from the data folder, the cache, or its original home."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from mercer_studies.data.arrays import Arrays, as_matrix, digest, published_splits
from mercer_studies.data.dataset import Dataset
from mercer_studies.data.download import convert_original
from mercer_studies.data.registry import Entry, canonical_name, registry

# Of the words of each view of the course pages, the columns in most documents.
_FREQUENT = {"page": "page_df3000", "link": "link_df1840"}


def load(
    name: str,
    *,
    dtype: DTypeLike = np.float64,
    view: str | None = None,
) -> Dataset:
    """Load a data set by name.

    The folder named by the environment variable ``MERCER_DATA`` is read first, then
    the per-user cache. A set in neither is made from its original: the sets
    scikit-learn ships from there, others by download from their home, converted and
    kept in the cache.

    Parameters
    ----------
    name : str
        One of `names()`, or a short alias such as ``"digit1"``.
    dtype : dtype, default=float64
        Of X. ``"float32"`` holds the pixels of mnist and the integers of covtype
        exactly, in half the memory.
    view : {"page", "link"}, default=None
        For webkb_course only: the 3000 words in most pages (what None means), or the
        1840 in the links that point to most of them.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the set is not here and its original cannot be converted for certain.
    ValueError
        If the name is unknown, or the arrays are not those of the registry.

    Notes
    -----
    Originals come in the format of their home, and their own checksums are not
    published. What is verified, after conversion, is a SHA-256 of the resulting arrays
    (`arrays.digest`), the same for a file of the data folder, of the cache and a fresh
    download.

    Examples
    --------
    >>> from mercer_studies.data import load
    >>> load("iris")
    Dataset('iris', 150 x 4 dense, 3 classes, splits={})
    """
    name = canonical_name(name)
    entry = registry()[name]
    views = list(_FREQUENT) if name == "webkb_course" else []
    if view is not None and view not in views:
        known = f"the views {views}" if views else "one view"
        msg = f"{name} has {known}; got view={view!r}."
        raise ValueError(msg)
    arrays = _arrays(name, entry)
    if views:
        view = view or "page"
        X = as_matrix(arrays, dtype=dtype, prefix=f"{view}_")
        X = X[:, arrays[_FREQUENT[view]]]
    else:
        X = as_matrix(arrays, dtype=dtype)
    return Dataset(
        name=name,
        X=X,
        y=arrays["y"].astype(np.intp),
        classes=arrays["classes"],
        description=(
            f"{entry.title}. {entry.note}.\nOriginal: {entry.page}\n"
            f"Licence: {entry.licence}"
        ),
        splits=published_splits(arrays),
        train=arrays["train_idx"].astype(np.intp) if "train_idx" in arrays else None,
        test=arrays["test_idx"].astype(np.intp) if "test_idx" in arrays else None,
    )


def cache_folder() -> Path:
    """Return the per-user folder that downloads are kept in."""
    import pooch

    return Path(pooch.os_cache("mercer"))


def _arrays(name: str, entry: Entry) -> Arrays:
    for folder in _folders():
        file = folder / f"{name}.npz"
        if file.is_file():
            with np.load(file, allow_pickle=False) as stored:
                return _verified(dict(stored), entry, name, str(file))
    arrays = _verified(convert_original(name, entry), entry, name, entry.page)
    if entry.urls:
        _keep(arrays, cache_folder() / f"{name}.npz")
    return arrays


def _folders() -> Iterator[Path]:
    given = os.environ.get("MERCER_DATA")
    if given and not Path(given).is_dir():
        msg = f"MERCER_DATA={given!r} is not a folder; correct or unset it."
        raise FileNotFoundError(msg)
    if given:
        yield Path(given)
    yield cache_folder()


def _verified(arrays: Arrays, entry: Entry, name: str, origin: str) -> Arrays:
    found = digest(arrays)
    if found != entry.digest:
        msg = (
            f"The arrays of {name} from {origin} are not the registered ones: "
            f"digest {found[:12]}..., expected {entry.digest[:12]}... The file is "
            "damaged or of another version; remove it, or put the right one in the "
            "folder named by MERCER_DATA."
        )
        raise ValueError(msg)
    return arrays


def _keep(arrays: Arrays, file: Path) -> None:
    """Write all or nothing: another process sees the whole file or none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        part = Path(folder) / file.name
        np.savez_compressed(part, **arrays)  # type: ignore[arg-type]
        part.replace(file)
