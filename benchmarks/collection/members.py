"""What all collections share: how a member is made, kept, divided and listed.

Members are kept as CACHE/NAME.npz (X, y; texts as tf-idf), packages beside them in
CACHE/packages. A collection is a dictionary of recipes.
"""

import argparse
import pathlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

Made = tuple[Any, np.ndarray]  # columns (frame, array or list of texts) and classes
LEAST = 4  # rows of a class; rarer classes are left out
SEED = 2026
UCI, GPL, BSD, MIT = "CC BY 4.0 (UCI)", "GPL", "BSD", "MIT"


class Recipe(NamedTuple):
    """How one member is made."""

    make: Callable[[pathlib.Path], Made]
    kind: str  # table, text, series, image or genes
    source: str
    licence: str


def columns(found: Any) -> Any:
    """Return numbers: categories one column each, missing ones a category or the mean.

    Texts become tf-idf of words that two of them have.
    """
    if isinstance(found, list):
        words = TfidfVectorizer(min_df=2, sublinear_tf=True, stop_words="english")
        return words.fit_transform(found)
    if not isinstance(found, pd.DataFrame):
        return np.nan_to_num(np.asarray(found, float))
    parts = []
    for name in found.columns:
        column = found[name]
        if pd.api.types.is_numeric_dtype(column) and column.dtype != bool:
            numbers = pd.to_numeric(column).astype(float)
            parts.append(numbers.fillna(numbers.mean()).to_numpy()[:, None])
        else:
            known = pd.get_dummies(column.astype(str)).to_numpy(float)
            parts.append(known[:, :1] if known.shape[1] == 2 else known)
    X = np.hstack(parts)
    return X[:, X.std(axis=0) > 0]


def prepared(recipe: Recipe, cache: pathlib.Path, most: int) -> tuple[Any, np.ndarray]:
    """Return X and y of one member, classes of `LEAST` rows or more."""
    found, classes = recipe.make(cache)
    classes = np.asarray(classes).astype(str)
    codes = np.unique(classes, return_inverse=True)[1]
    kept = np.flatnonzero(np.bincount(codes)[codes] >= LEAST)
    rng = np.random.default_rng(SEED)
    kept = np.sort(rng.permutation(kept)[:most])
    codes = codes[kept]
    kept = kept[np.bincount(codes)[codes] >= LEAST]
    if isinstance(found, list):
        found = [found[i] for i in kept]
    else:
        found = found.iloc[kept] if isinstance(found, pd.DataFrame) else found[kept]
    return columns(found), np.unique(classes[kept], return_inverse=True)[1]


def save(path: pathlib.Path, X: Any, y: np.ndarray) -> None:
    """Write one member."""
    if sparse.issparse(X):
        X = X.tocsr()
        np.savez_compressed(path, data=X.data, indices=X.indices, indptr=X.indptr,
                            shape=X.shape, y=y)  # fmt: skip
    else:
        np.savez_compressed(path, X=X, y=y)


def load(cache: pathlib.Path, name: str) -> tuple[Any, np.ndarray]:
    """Read one member that was made before."""
    with np.load(cache / f"{name}.npz") as found:
        if "X" in found:
            return found["X"], found["y"]
        parts = (found["data"], found["indices"], found["indptr"])
        return sparse.csr_matrix(parts, shape=found["shape"]), found["y"]


def halves(kinds: dict[str, str]) -> dict[str, str]:
    """Divide the members once, at random, kind by kind."""
    rng = np.random.default_rng(SEED)
    half = {}
    for kind in sorted(set(kinds.values())):
        members = sorted(name for name in kinds if kinds[name] == kind)
        first = rng.integers(2)
        for place, i in enumerate(rng.permutation(len(members))):
            half[members[i]] = ("choose", "judge")[(place + first) % 2]
    return half


def judged(kinds: Sequence[str]) -> dict[str, str]:
    """Return the half of every set: all of them are for judging."""
    return dict.fromkeys(kinds, "judge")


def version(cache: pathlib.Path, package: str) -> str:
    """Return the name of the file that a package was read from."""
    folder = cache / "packages" / package.replace("/", "-").strip("@")
    kinds = (".whl", ".deb", ".tgz", ".gz")
    return next(p.name for p in folder.iterdir() if p.suffix in kinds)


def make_all(
    recipes: dict[str, Recipe],
    registry: pathlib.Path,
    divided: Callable[[dict[str, str]], dict[str, str]],
    cache: pathlib.Path,
    names: list[str],
    most: int,
) -> None:
    """Make what is missing and write the registry when all is there."""
    cache.mkdir(parents=True, exist_ok=True)
    for name in names or list(recipes):
        path = cache / f"{name}.npz"
        if not path.exists():
            X, y = prepared(recipes[name], cache, most)
            save(path, X, y)
            print(name, X.shape, np.bincount(y), flush=True)
    if registry.exists() or names:
        return
    half = divided({name: recipe.kind for name, recipe in recipes.items()})
    rows = []
    for name, recipe in recipes.items():
        X, y = load(cache, name)
        rows.append((name, recipe.kind, version(cache, recipe.source), recipe.licence,
                     X.shape[0], X.shape[1], y.max() + 1,
                     round(np.bincount(y).min() / len(y), 4), half[name]))  # fmt: skip
    heads = ["name", "kind", "source", "licence", "n", "d", "C", "rarest", "half"]
    pd.DataFrame(rows, columns=heads).to_csv(registry, index=False)


def main(
    about: str,
    recipes: dict[str, Recipe],
    registry: pathlib.Path,
    divided: Callable[[dict[str, str]], dict[str, str]],
) -> None:
    """Read the command line of a collection and make it."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--rows", type=int, default=1500, help="kept at most, drawn at random"
    )
    given = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    make_all(recipes, registry, divided, given.cache, given.names, given.rows)
