"""A folder of images with a few labels: the digits of scikit-learn, six labels each.

    python examples/digits_folder.py digits
    mercer learn digits
    python examples/digits_folder.py --check mercer-out/digits/predictions.csv

Labelled images lie in folders named after their digit, all others at the top. The last
line compares the predictions with the truth.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits


def main(folder: Path, n_labels: int = 6) -> None:
    digits = load_digits()
    rng = np.random.default_rng(0)
    labeled = [
        rng.choice(np.flatnonzero(digits.target == digit), n_labels, replace=False)
        for digit in range(10)
    ]
    known = set(np.concatenate(labeled).tolist())
    for row, (pixels, digit) in enumerate(
        zip(digits.images, digits.target, strict=True)
    ):
        place = folder / str(digit) if row in known else folder
        place.mkdir(parents=True, exist_ok=True)
        grey = np.round(pixels * 255 / 16).astype(np.uint8)
        Image.fromarray(grey).save(place / f"{row:04}.png")
    print(f"wrote {len(digits.images)} images, {len(known)} labelled, to {folder}")


def check(predictions: Path) -> None:
    truth = load_digits().target
    with predictions.open(newline="") as file:
        hidden = [row for row in csv.DictReader(file) if row["labelled"] == "false"]
    right = [int(r["prediction"]) == truth[int(Path(r["id"]).stem)] for r in hidden]
    print(f"{np.mean(right):.1%} of {len(right)} images without a label are right")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "digits"))
