"""Labels called wrong: the stated share of false alarms, and the share found.

    python benchmarks/alarms.py

Needs MERCER_DATA. The constants of `NoisePrior` were chosen on the first four sets.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from mercer import UnifiedKernelMachine
from mercer.datasets import load

warnings.simplefilter("ignore")
CHOSEN_ON = {
    "iris": load_iris,
    "wine": load_wine,
    "breast": load_breast_cancer,
    "digits": load_digits,
}
OTHERS = (
    "heart", "ionosphere", "glass", "sonar", "uspst", "ssl_digit1", "ssl_usps",
    "coil20_32x32",
)  # fmt: skip
LABELS, NOISES, DRAWS, MOST = (40, 120), (0.0, 0.05, 0.1, 0.2), 3, 600


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in CHOSEN_ON:
        X, y = CHOSEN_ON[name](return_X_y=True)
    else:
        found = load(name)
        X, y = found.X, found.y
    codes = np.unique(y, return_inverse=True)[1]
    some = np.random.default_rng(0).permutation(len(codes))[:MOST]
    return X[some], codes[some]


def alarms(names: tuple[str, ...]) -> None:
    found: dict[tuple[float, int], list[np.ndarray]] = {}
    for name in names:
        X, y = data(name)
        C, n = y.max() + 1, len(y)
        model = UnifiedKernelMachine(random_state=0).fit(X, y)
        for noise in NOISES:
            for size in LABELS:
                for draw in range(DRAWS):
                    rng = np.random.default_rng([size, int(100 * noise), draw])
                    rows = rng.permutation(n)[:size]
                    flip = rng.random(size) < noise
                    given = np.full(n, -1)
                    given[rows] = y[rows]
                    given[rows[flip]] += rng.integers(1, C, flip.sum())
                    given[rows[flip]] %= C
                    s = model.with_labels(given).suspicious_set()
                    right = int((given[s.ids] == y[s.ids]).sum())
                    row = (len(s.ids), right, s.false_alarms * len(s.ids), flip.sum())
                    found.setdefault((noise, size), []).append(np.array(row))
    print("wrong | labels | named | stated | found | of the wrong ones named")
    for (noise, size), rows in found.items():
        named, right, stated, wrong = np.sum(rows, axis=0)
        of = max(named, 1)
        print(
            f"{noise:.0%} | {size} | {named:.0f} | {stated / of:.2f} | "
            f"{right / of:.2f} | {(named - right) / max(wrong, 1):.2f}"
        )
    named, right, stated, wrong = np.sum([r for v in found.values() for r in v], axis=0)
    print(f"all | | {named:.0f} | {stated / named:.2f} | {right / named:.2f}")


if __name__ == "__main__":
    alarms(tuple(CHOSEN_ON))
    alarms(OTHERS)
