"""Can the default be trusted: calibration, wrong labels found, questions that pay.

    python benchmarks/trust.py calibration | suspicious | active | mnist [n]

Needs MERCER_DATA; `suspicious` needs cleanlab.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from mercer import UnifiedKernelMachine
from mercer.active.strategies import QUERIES, choose_rows
from mercer.model_selection import expected_calibration_error
from mercer_studies.data import load

warnings.simplefilter("ignore")
UCI = ("heart", "ionosphere", "sonar", "wine")
SSL = ("digit1", "usps", "coil2", "coil", "text")
DRAWS, STARTS = 10, 30


def data(name: str) -> tuple[object, np.ndarray]:
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, y
    found = load(f"ssl_{name}" if name in SSL else name)
    X = StandardScaler().fit_transform(found.X) if name in UCI else found.X
    return X, found.y


def draw(truth: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Label n random points, at least one of each class."""
    rng = np.random.default_rng(seed)
    classes = np.unique(truth)
    while True:
        rows = rng.choice(len(truth), n, replace=False)
        if len(np.unique(truth[rows])) == len(classes):
            break
    y = np.full(len(truth), -1)
    y[rows] = truth[rows]
    return y


def calibration() -> None:
    print(f"{'100 labels':12}{'accuracy':>10}{'confidence':>12}{'ECE':>8}")
    for name in ("digits", *SSL, *UCI):
        X, truth = data(name)
        probas, answers, base = [], [], None
        for seed in range(DRAWS):
            y = draw(truth, min(100, len(truth) // 2), seed)
            model = UnifiedKernelMachine(random_state=0)
            base = model.fit(X, y) if base is None else base.with_labels(y)
            hidden = y == -1
            probas.append(base.training_proba()[hidden])
            answers.append(truth[hidden])
        # Pooled over draws: bins of a hundred points would be noise.
        proba, answer = np.vstack(probas), np.concatenate(answers)
        accuracy = np.mean(base.classes_[proba.argmax(axis=1)] == answer)
        error = expected_calibration_error(answer, proba, base.classes_)
        confidence = proba.max(axis=1).mean()
        print(f"{name:12}{accuracy:10.3f}{confidence:12.3f}{error:8.3f}", flush=True)


def suspicious() -> None:
    from cleanlab.rank import get_label_quality_scores

    print("200 labels, 20 of them wrong: share of wrong ones among the 20 suspects")
    print(f"{'':12}{'mercer':>8}{'cleanlab':>10}{'cleanlab on mercer':>20}")
    for name in ("digits", *SSL):
        X, truth = data(name)
        n_classes = len(np.unique(truth))
        rows, base = [], None
        for seed in range(DRAWS):
            y = draw(truth, 200, seed)
            rng = np.random.default_rng(seed)
            labeled = np.flatnonzero(y != -1)
            wrong = rng.choice(labeled, 20, replace=False)
            y[wrong] = (y[wrong] + rng.integers(1, n_classes, 20)) % n_classes
            model = UnifiedKernelMachine(random_state=0)
            base = model.fit(X, y) if base is None else base.with_labels(y)
            ours = base.suspicious_labels().ids[:20]
            found = [len(set(ours) & set(wrong)) / 20]
            for points in (X[labeled], base.kernel_.features()[labeled]):
                proba = cross_val_predict(
                    LogisticRegression(max_iter=2000),
                    points,
                    y[labeled],
                    cv=5,
                    method="predict_proba",
                )
                quality = get_label_quality_scores(y[labeled], proba)
                theirs = labeled[np.argsort(quality)[:20]]
                found.append(len(set(theirs) & set(wrong)) / 20)
            rows.append(found)
        a, b, c = np.mean(rows, axis=0)
        print(f"{name:12}{a:8.3f}{b:10.3f}{c:20.3f}", flush=True)


def active() -> None:
    """As Table 3 of Hoi et al. (2006): ten labels, then batches of ten questions.

    Questions are about one half of the points; accuracy is that on the other half,
    which no query can make easier by asking about its hard points.
    """
    print("ten labels, four batches of ten: mean accuracy, and more than random")
    for name in UCI:
        X, truth = data(name)
        same = ("margin", "least_confidence") if truth.max() == 1 else ()
        queries = [query for query in QUERIES if query not in same]  # as entropy
        found: dict[str, list[float]] = {query: [] for query in queries}
        base = None
        for seed in range(STARTS):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(truth))
            askable, kept = order[: len(order) // 2], order[len(order) // 2 :]
            rows = askable[draw(truth[askable], 10, seed) != -1]
            y = np.full(len(truth), -1)
            y[rows] = truth[rows]
            if base is None:
                base = UnifiedKernelMachine(random_state=0).fit(X, y)
            start = base.with_labels(y)
            for query in queries:
                model, curve = start, []
                for _ in range(4):
                    asked = ask_among(model, query, 10, askable, rng)
                    labels = model.transduction_.copy()
                    labels[asked] = truth[asked]
                    known = np.union1d(model.labeled_, asked)
                    labels[np.setdiff1d(np.arange(len(truth)), known)] = -1
                    model = model.with_labels(labels)
                    curve.append(np.mean(model.transduction_[kept] == truth[kept]))
                found[query].append(float(np.mean(curve)))
        for query, scores in found.items():
            gain = np.subtract(scores, found["random"])
            error = gain.std(ddof=1) / np.sqrt(STARTS)
            print(
                f"{name:12}{query:18}{np.mean(scores):8.3f}"
                f"{gain.mean():+8.3f} +- {error:.3f}",
                flush=True,
            )


def ask_among(
    model: UnifiedKernelMachine,
    query: str,
    n: int,
    rows: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    return choose_rows(
        query,
        n,
        proba=model.training_proba(),
        features=model.kernel_.features(),
        labeled=model.labeled_,
        candidates=np.setdiff1d(rows, model.labeled_),
        rng=rng,
    )


BOTH, MOST = ("random", "reduction"), 200


def mnist(n: int = 70_000, goals: tuple[float, ...] = (0.95, 0.96, 0.965)) -> None:
    """Count the labels that a share of right answers needs, in batches of ten."""
    found = load("mnist")
    X = PCA(50, svd_solver="covariance_eigh").fit_transform(found.X / 255.0)
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    X, truth = X[rows], found.y[rows]
    base, needed = None, {(query, goal): [] for query in BOTH for goal in goals}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.full(n, -1)
        for c in range(10):
            y[rng.choice(np.flatnonzero(truth == c))] = c
        if base is None:
            base = UnifiedKernelMachine(random_state=0).fit(X, y)
        for query in BOTH:
            model = base.set_params(query=query).with_labels(y)
            for goal in goals:
                while True:
                    hidden = np.setdiff1d(np.arange(n), model.labeled_)
                    right = np.mean(model.transduction_[hidden] == truth[hidden])
                    if right >= goal or len(model.labeled_) >= MOST:
                        break
                    asked = model.ask(10)
                    model.tell(asked, truth[asked])
                needed[query, goal].append(len(model.labeled_))
                count = len(model.labeled_)
                print(f"start {seed}: {query} {count} ({right:.4f})", flush=True)
    for (query, goal), counts in needed.items():
        print(f"{goal:.1%} {query:12}{np.mean(counts):8.0f} labels, {counts}")


if __name__ == "__main__":
    parts = {
        "calibration": calibration,
        "suspicious": suspicious,
        "active": active,
        "mnist": mnist,
    }
    parts[sys.argv[1]](*map(int, sys.argv[2:]))
