"""How often a label that is said to look wrong is wrong.

The collection of `benchmarks/collection`: at most 400 rows of a member, 40 labels drawn
at random, 4 of them changed to another class, and the same 40 labels as they are. What
`suspicious_labels` returns is kept in a file.

    python benchmarks/wrong_labels.py run CACHE choose.pkl --half choose
    python benchmarks/wrong_labels.py show choose.pkl
"""

import argparse
import pathlib
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
from unseen import problem

HERE = pathlib.Path(__file__).parent
ROWS = 400


def run(
    cache: pathlib.Path, out: pathlib.Path, half: str, n_labels: int, draws: int
) -> None:
    """Keep the ranked labels of every member and draw."""
    from mercer import UnifiedKernelMachine

    registry = pd.read_csv(HERE / "collection" / "registry.csv")
    found = []
    for name in registry["name"][registry["half"] == half]:
        X, y = problem(cache, name, scale=False, rows=ROWS)
        if len(y) < 2 * n_labels:
            continue
        model = None
        for number in range(draws):
            rng = np.random.default_rng((number, 2026))
            rows = rng.permutation(len(y))[:n_labels]
            if len(np.unique(y[rows])) < 2:
                continue
            for n_wrong in (n_labels // 10, 0):
                labels = np.full(len(y), -1)
                labels[rows] = change(y[rows], n_wrong, rng)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if model is None:
                        model = UnifiedKernelMachine(random_state=0).fit(X, labels)
                    else:
                        model = model.with_labels(labels)
                    ranked = model.suspicious_labels()
                wrong = ranked.given != y[ranked.ids]
                found.append((name, number, n_wrong, ranked, wrong))
        print(name, flush=True)
    with out.open("wb") as file:
        pickle.dump(found, file)


def change(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return labels with n of them changed to another class that has labels."""
    given, classes = y.copy(), np.unique(y)
    for i in rng.permutation(len(y))[:n]:
        given[i] = rng.choice(classes[classes != y[i]])
    return given


def show(path: pathlib.Path) -> None:
    """Print precision and recall, and how often right labels raise an alarm."""
    with path.open("rb") as file:
        found = pickle.load(file)
    print("another class four times as likely:", figures(found, contradicted))
    print("doubtful:", figures(found, doubtful))
    easy = [run for run in found if is_easy(found, run[0])]
    print("doubtful, 9 of 10 held-out labels right:", figures(easy, doubtful))


def doubtful(ranked: Any) -> np.ndarray:
    from mercer.judging.suspicion import is_doubtful

    return is_doubtful(ranked)


def contradicted(ranked: Any) -> np.ndarray:
    """Return the rule that was used before: another class is four times as likely."""
    return ranked.best >= np.maximum(0.5, 4 * ranked.support)


def is_easy(found: list[Any], name: str) -> bool:
    """Tell whether unchanged labels of a member are predicted well."""
    clean = [r[3] for r in found if r[0] == name and r[2] == 0]
    right = np.concatenate([ranked.given == ranked.suggested for ranked in clean])
    return bool(right.mean() >= 0.9)


def figures(found: list[Any], rule: Any) -> dict[str, float]:
    """Return what a rule is worth."""
    changed = [(rule(ranked), w, ranked, n) for _, _, n, ranked, w in found if n]
    clean = [rule(ranked) for _, _, n, ranked, _ in found if n == 0]
    said = np.concatenate([s for s, _, _, _ in changed])
    wrong = np.concatenate([w for _, w, _, _ in changed])
    chance = np.concatenate([r.wrong for _, _, r, _ in changed])
    return {
        "runs": len(changed),
        "alarms": int(said.sum()),
        "precision": round(float(wrong[said].mean()), 3),
        "expected": round(float(chance[said].mean()), 3),
        "recall": round(float(wrong[said].sum() / sum(n for *_, n in changed)), 3),
        "speaks": round(float(np.mean([s.any() for s, *_ in changed])), 3),
        "speaks of right labels": round(float(np.mean([s.any() for s in clean])), 3),
        "alarms per run with right labels": round(
            float(np.mean([s.sum() for s in clean])), 3
        ),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--half", choices=["choose", "judge"], default="choose")
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--draws", type=int, default=6)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(*chosen.paths, chosen.half, chosen.labels, chosen.draws)
    else:
        show(chosen.paths[0])
