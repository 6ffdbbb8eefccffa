"""A folder of images with a few labels: the digits of scikit-learn, six labels each.

    python examples/digits_folder.py digits
    mercer learn digits

Labelled images lie in folders named after their digit, all others at the top.
"""

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


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "digits"))
