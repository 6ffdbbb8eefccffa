"""How often a label that is said to look wrong is wrong, and how many are found.

The collection of `benchmarks/collection`: at most 400 rows of a member, 40 and 120
labels drawn at random, of which none, 5%, 10% or 20% are changed to another class.
What `suspicious_labels` says of each label is kept in a file. The constants of
`mercer.judging.suspicion.NoisePrior` and the threshold were chosen on the half
`choose`.

    python benchmarks/wrong_labels.py run CACHE choose.csv --half choose
    python benchmarks/wrong_labels.py show choose.csv
    python benchmarks/wrong_labels.py easy
"""

import argparse
import pathlib
import warnings

import numpy as np
import pandas as pd
from unseen import problem

HERE = pathlib.Path(__file__).parent
ROWS, LABELS, SHARES = 400, (40, 120), (0.0, 0.05, 0.1, 0.2)


def run(cache: pathlib.Path, out: pathlib.Path, half: str, draws: int) -> None:
    """Write a line per label of every member, number of labels, share and draw."""
    from mercer import UnifiedKernelMachine

    warnings.simplefilter("ignore")
    registry = pd.read_csv(HERE / "collection" / "registry.csv")
    for name in registry["name"][registry["half"] == half]:
        X, y = problem(cache, name, scale=False, rows=ROWS)
        model, lines = None, []
        for size in (n for n in LABELS if len(y) >= 2 * n):
            for number in range(draws):
                for share in SHARES:
                    seed = (number, 2026, size, round(100 * share))
                    rng = np.random.default_rng(seed)
                    rows = rng.permutation(len(y))[:size]
                    if len(np.unique(y[rows])) < 2:
                        continue
                    labels = np.full(len(y), -1)
                    labels[rows] = change(y[rows], round(share * size), rng)
                    if model is None:
                        model = UnifiedKernelMachine(random_state=0).fit(X, labels)
                    else:
                        model = model.with_labels(labels)
                    ranked = model.suspicious_labels()
                    lines.append(
                        pd.DataFrame(
                            {
                                "set": name,
                                "labels": size,
                                "share": share,
                                "draw": number,
                                "wrong": ranked.given != y[ranked.ids],
                                "named": ranked.looks_wrong,
                                "chance": ranked.wrong.round(4),
                                "missed": ranked.given != ranked.suggested,
                            }
                        )
                    )
        if lines:
            frame = pd.concat(lines)
            frame.to_csv(out, mode="a", header=not out.exists(), index=False)
        print(name, flush=True)


def change(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return labels with n of them changed to another class that has labels."""
    given, classes = y.copy(), np.unique(y)
    for i in rng.permutation(len(y))[:n]:
        given[i] = rng.choice(classes[classes != y[i]])
    return given


def show(path: pathlib.Path) -> None:
    """Print precision, stated and found, and recall."""
    found = pd.read_csv(path)
    clean = found[found["share"] == 0].groupby("set")["missed"].mean()
    easy = found["set"].isin(clean.index[clean <= 0.1])
    print("labels | changed | runs | named | wrong of these | stated | found | speaks")
    for (size, share), part in found.groupby(["labels", "share"]):
        print(f"{size} | {share:.0%} | {figures(part)}")
    print(f"all | | {figures(found)}")
    print(f"some changed | | {figures(found[found['share'] > 0])}")
    print(f"9 of 10 held-out labels right | | {figures(found[easy])}")


def easy(draws: int = 10) -> None:
    """Print how many wrong labels are named where classes are clear."""
    from sklearn.datasets import load_digits, make_blobs

    from mercer import UnifiedKernelMachine

    centers = [[0, 0], [6, 0], [0, 6]]
    for name, (X, y), size in (
        ("three blobs", make_blobs(300, centers=centers, random_state=0), 60),
        ("digits", load_digits(return_X_y=True), 200),
    ):
        found, n_right = [], 0
        for number in range(draws):
            rng = np.random.default_rng(number)
            rows = rng.permutation(len(y))[:size]
            labels = np.full(len(y), -1)
            labels[rows] = change(y[rows], size // 10, rng)
            model = UnifiedKernelMachine(random_state=0).fit(X, labels)
            ranked = model.suspicious_labels()
            is_wrong = (ranked.given != y[ranked.ids])[ranked.looks_wrong]
            found.append(int(is_wrong.sum()))
            n_right += int((~is_wrong).sum())
        print(f"{name}: {found} of {size // 10} named, and {n_right} right ones")


def figures(part: pd.DataFrame) -> str:
    """Return what the method is worth in some runs."""
    runs = part.groupby(["set", "labels", "share", "draw"])
    named = part[part["named"]]
    changed = sum(round(r[2] * r[1]) for r in runs.groups)
    return (
        f"{runs.ngroups} | {len(named)} | {named['wrong'].mean():.0%} | "
        f"{named['chance'].mean():.0%} | {named['wrong'].sum() / max(changed, 1):.0%}"
        f" | {runs['named'].any().mean():.0%}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "show", "easy"])
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--half", choices=["choose", "judge"], default="choose")
    parser.add_argument("--draws", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(*chosen.paths, chosen.half, chosen.draws)
    elif chosen.what == "easy":
        easy()
    else:
        show(chosen.paths[0])
