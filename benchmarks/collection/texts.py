"""Texts and images of the collection, each made from what a package ships."""

import io
import pathlib
import tarfile

import numpy as np
import yaml
from members import Made
from PIL import Image, ImageDraw, ImageFont
from rlazy import as_frame, read_object
from sources import archive, debian, wheel

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def fortunes(cache: pathlib.Path) -> Made:
    """Sayings; the class is the file they are in."""
    folder = debian(cache, "fortunes") / "usr/share/games/fortunes"
    texts, classes = [], []
    kinds = ("computers", "food", "love", "medicine", "politics", "science", "sports",
             "work", "wisdom", "definitions")  # fmt: skip
    for kind in kinds:
        path = folder / kind
        for text in path.read_text("utf-8", "replace").split("\n%\n"):
            texts.append(text)
            classes.append(kind)
    return texts, np.array(classes)


def novels(cache: pathlib.Path) -> Made:
    """Passages of 40 lines; the class is the novel."""
    texts, classes = [], []
    package = debian(cache, "r-cran-janeaustenr")
    for name in ("emma", "mansfieldpark", "northangerabbey", "persuasion",
                 "prideprejudice", "sensesensibility"):  # fmt: skip
        lines = [str(line) for line in np.asarray(read_object(package, name))]
        for start in range(0, len(lines) - 40, 40):
            texts.append("\n".join(lines[start : start + 40]))
            classes.append(name)
    return texts, np.array(classes)


def tweets(cache: pathlib.Path) -> Made:
    """Short messages; the class is the device they were sent from."""
    frame = as_frame(read_object(debian(cache, "r-cran-dslabs"), "trump_tweets"))
    kinds = ("Twitter for Android", "Twitter for iPhone", "Twitter Web Client")
    frame = frame[frame["source"].isin(kinds)]
    return frame["text"].astype(str).tolist(), frame["source"].astype(str).to_numpy()


def talks(cache: pathlib.Path) -> Made:
    """Questions and answers of a chatbot; the class is the topic: very uneven."""
    archive = wheel(cache, "chatterbot-corpus")
    texts, classes = [], []
    for path in sorted(archive.namelist()):
        if "/english/" not in path or not path.endswith(".yml"):
            continue
        pairs = yaml.safe_load(archive.read(path)).get("conversations", [])
        if len(pairs) >= 15:
            for pair in pairs:
                texts.append(" ".join(str(part) for part in pair))
                classes.append(pathlib.PurePath(path).stem)
    return texts, np.array(classes)


def newswire(cache: pathlib.Path) -> Made:
    """70 reports on acquisitions and on crude oil."""
    package = debian(cache, "r-cran-tm")
    texts, classes = [], []
    for name in ("acq", "crude"):
        for report in read_object(package, name)["content"].values():
            texts.append(" ".join(str(part) for part in report["content"]))
            classes.append(name)
    return texts, np.array(classes)


def faces(cache: pathlib.Path) -> Made:
    """Patches of 25 x 25 pixels: 100 faces, 100 that are none."""
    images = np.load(io.BytesIO(wheel(cache, "scikit-image").read(
        "skimage/data/lfw_subset.npy")))  # fmt: skip
    return images.reshape(200, -1).astype(float), np.repeat(["face", "other"], 100)


def letters(cache: pathlib.Path) -> Made:
    """Capital letters in 35 fonts, 20 x 20 pixels."""
    folder = debian(cache, "fonts-urw-base35") / "usr/share/fonts"
    images, classes = [], []
    for path in sorted(folder.rglob("*.otf")):
        if path.stem.startswith(("D050000L", "StandardSymbols")):
            continue
        font = ImageFont.truetype(str(path), 40)
        for letter in _LETTERS:
            left, top, right, bottom = font.getbbox(letter)
            canvas = Image.new("L", (right - left + 4, bottom - top + 4))
            ImageDraw.Draw(canvas).text((2 - left, 2 - top), letter, 255, font)
            images.append(np.asarray(canvas.resize((20, 20))).ravel() / 255.0)
            classes.append(letter)
    return np.array(images), np.array(classes)


def patches(cache: pathlib.Path) -> Made:
    """Patches of 12 x 12 grey pixels; the class is the photograph."""
    rng = np.random.default_rng(0)
    archive = wheel(cache, "ISLP")
    images, classes = [], []
    for name in ("flamingo", "hawk", "huey", "kitty", "weaver"):
        data = archive.read(f"ISLP/data/book_images/{name}.jpg")
        photo = Image.open(io.BytesIO(data)).convert("L").resize((240, 240))
        pixels = np.asarray(photo) / 255.0
        for x, y in rng.integers(0, 228, (200, 2)):
            images.append(pixels[x : x + 12, y : y + 12].ravel())
            classes.append(name)
    return np.array(images), np.array(classes)


def snippets(cache: pathlib.Path, ending: str) -> dict[str, list[list[str]]]:
    """Return the files of one ending that vaderSentiment ships, as fields of lines."""
    outer = archive(cache, "vaderSentiment")
    name = next(n for n in outer.getnames() if n.endswith("ICWSM_2014.tar.gz"))
    found = {}
    with tarfile.open(fileobj=outer.extractfile(name)) as inner:
        for member in inner.getnames():
            short = pathlib.PurePath(member).name
            if short.startswith("._") or not short.endswith(f"_{ending}.txt"):
                continue
            file = inner.extractfile(member)
            text = file.read().decode("utf-8-sig", "replace") if file else ""
            found[short.split("_")[0]] = [s.split("\t") for s in text.splitlines()]
    return found


def reviews(cache: pathlib.Path) -> Made:
    """Snippets of reviews, editorials and tweets; the class is the source."""
    texts, classes = [], []
    for kind, rows in snippets(cache, "GroundTruth").items():
        for row in rows[::4]:
            texts.append(row[-1])
            classes.append(kind)
    return texts, np.array(classes)
