"""Texts by their words, by their meaning, and by both: Mercer and other heads.

Eight sets of 600 short texts that need no download but of packages: lines about Debian
packages by section and by programming language; fortunes by file; glosses of WordNet's
nouns and verbs by lexicographer file; remarks of chatterbot-corpus by topic in English,
Italian and Chinese. Labels are drawn at random; accuracy on the other rows, means over
draws, with standard errors over the sets.

    python benchmarks/embeddings.py --root ROOT --corpus CORPUS --model MODEL [--light]

ROOT holds usr/share/wordnet and usr/share/games/fortunes (Debian's wordnet-base and
fortunes; / where they are installed), CORPUS the folder data of chatterbot_corpus.
MODEL is a model of sentence-transformers; its embeddings are kept by Mercer's cache.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import re
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from mercer import UnifiedKernelMachine
from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.table import as_table

ROWS, CLASSES = 600, 8
NOUNS = {5: "animal", 6: "artifact", 7: "attribute", 8: "body", 13: "food",
         15: "location", 18: "person", 20: "plant"}  # fmt: skip
VERBS = {30: "change", 31: "cognition", 32: "communication", 35: "contact",
         36: "creation", 38: "motion", 40: "possession", 41: "social"}  # fmt: skip
LANGUAGES = re.compile(r"^(python3|ruby|node|golang|r-cran|libghc|elpa|php)-")
Rows = Iterable[tuple[str, str]]


def packages() -> Iterator[tuple[str, str, str]]:
    """Yield name, section and line about every package that apt lists."""
    listed = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    )
    for record in listed.stdout.split("\n\n"):
        fields = dict(re.findall(r"^(\w+): (.+)$", record, flags=re.MULTILINE))
        if {"Package", "Section", "Description"} <= set(fields):
            yield fields["Package"], fields["Section"], fields["Description"]


def fortunes(root: Path) -> Iterator[tuple[str, str]]:
    for name in ("computers", "cookie", "definitions", "people", "politics", "science",
                 "songs-poems", "work"):  # fmt: skip
        path = root / "usr/share/games/fortunes" / name
        for text in path.read_text(errors="replace").split("\n%\n"):
            yield text.strip(), name


def glosses(root: Path, kind: str, names: dict[int, str]) -> Iterator[tuple[str, str]]:
    for line in (root / f"usr/share/wordnet/data.{kind}").open():
        found = re.match(r"\d{8} (\d\d) .*\| ([^;]+)", line)
        if found and int(found[1]) in names:
            yield found[2].strip(), names[int(found[1])]


def remarks(corpus: Path, language: str) -> Iterator[tuple[str, str]]:
    for path in sorted((corpus / language).glob("*.yml")):
        if path.stem not in {"conversations", "trivia"}:
            for text in re.findall(r"^[- ]+ - (.+)$", path.read_text(), re.MULTILINE):
                yield text.strip("'\" "), path.stem


def sample(rows: Rows) -> tuple[list[str], np.ndarray]:
    """Return texts that differ, of the largest classes."""
    pairs = sorted({text: label for text, label in rows if text}.items())
    largest = [c for c, _ in Counter(label for _, label in pairs).most_common(CLASSES)]
    pairs = [p for p in pairs if p[1] in largest]
    rng = np.random.default_rng(0)
    chosen = [pairs[k] for k in rng.permutation(len(pairs))[:ROWS]]
    return [text for text, _ in chosen], np.array([label for _, label in chosen])


def sets(root: Path, corpus: Path) -> dict[str, tuple[list[str], np.ndarray]]:
    lines = list(packages())
    found: dict[str, Rows] = {
        "sections": [(text, section) for _, section, text in lines],
        "languages": [
            (text, LANGUAGES.match(name)[1])
            for name, _, text in lines
            if LANGUAGES.match(name)
        ],
        "fortunes": fortunes(root),
        "nouns": glosses(root, "noun", NOUNS),
        "verbs": glosses(root, "verb", VERBS),
        **{f"chat {name}": remarks(corpus, name)
           for name in ("english", "italian", "chinese")},
    }  # fmt: skip
    return {name: sample(rows) for name, rows in found.items()}


def mercer(points: Any) -> Any:
    """Return what learns from labels; the pool is made once."""
    fitted = UnifiedKernelMachine(random_state=0)

    def predict(y: np.ndarray) -> np.ndarray:
        if hasattr(fitted, "classes_"):
            return fitted.with_labels(y).transduction_
        return fitted.fit(points, y).transduction_

    return predict


def head(model: Any, points: Any) -> Any:
    def predict(y: np.ndarray) -> np.ndarray:
        known = np.flatnonzero([label is not None for label in y])
        return model.fit(points[known], y[known].astype(str)).predict(points)

    return predict


def methods(texts: list[str], models: dict[str, str]) -> dict[str, Any]:
    table = as_table({"text": texts})
    words = TableEncoder().fit_transform(table)
    tfidf = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    found = {"words": mercer(words), "words LR": head(_lr(100), tfidf)}
    for name, model in models.items():
        encoder = TableEncoder()
        both = encoder.fit_transform(table, read_embed({"text": model}))
        meaning = TableEncoder().fit_transform(as_table({"v": _vectors(table, model)}))
        found |= {
            f"{name}": mercer(meaning),
            f"{name} + words": mercer(both),
            f"{name} LR": head(_lr(100), meaning),
            f"{name} SVM": head(SVC(C=10), meaning),
            f"{name} kNN": head(KNeighborsClassifier(3, weights="distance"), meaning),
        }
    return found


def _lr(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=1000)


def _vectors(table: Any, model: str) -> np.ndarray:
    from mercer.app.embedding.columns import embed_columns

    made = embed_columns(table, read_embed({"text": model})).table
    return made.vectors["text (embedded)"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--model", default="sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--light", action="store_true", help="wordllama as well")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    given = parser.parse_args()
    models = {"MiniLM": given.model} | ({"light": "wordllama"} if given.light else {})
    results: dict[tuple[str, str, int], list[float]] = {}
    for name, (texts, truth) in sets(given.root, given.corpus).items():
        if given.only and name not in given.only:
            continue
        start = time.perf_counter()
        for label, predict in methods(texts, models).items():
            for n in (20, 50, 100):
                for draw in range(given.draws):
                    rng = np.random.default_rng((n, draw))
                    rows = rng.permutation(len(truth))[:n]
                    y = np.full(len(truth), None, dtype=object)
                    y[rows] = truth[rows]
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        right = predict(y) == truth
                    hidden = np.delete(right, rows)
                    results.setdefault((label, name, n), []).append(hidden.mean())
        spent = time.perf_counter() - start
        print(f"# {name}: {len(texts)} rows, {spent:.0f} s", flush=True)
    show(results)


def show(results: dict[tuple[str, str, int], list[float]]) -> None:
    """Print a line per method: means over the sets, and every set with 50 labels."""
    names = list(dict.fromkeys(name for _, name, _ in results))
    print("method | 20 | 50 | 100 | " + " | ".join(f"{n} (50)" for n in names))
    for label in dict.fromkeys(label for label, _, _ in results):
        cells = []
        for n in (20, 50, 100):
            means = [100 * np.mean(results[label, name, n]) for name in names]
            error = np.std(means, ddof=1) / np.sqrt(len(means))
            cells.append(f"{np.mean(means):.1f} ± {error:.1f}")
        each = [f"{100 * np.mean(results[label, name, 50]):.1f}" for name in names]
        print(" | ".join([label, *cells, *each]), flush=True)


if __name__ == "__main__":
    main()
