"""Can the default be trusted: calibration, wrong labels found, questions that pay.

    python benchmarks/trust.py calibration | suspicious | active

Needs MERCER_DATA; `suspicious` needs cleanlab.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from mercer import UnifiedKernelMachine
from mercer.datasets import load
from mercer.model_selection import expected_calibration_error

warnings.simplefilter("ignore")
UCI = ("heart", "ionosphere", "sonar", "wine")
SSL = ("digit1", "usps", "coil2", "coil", "text")
DRAWS = 10


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
            probas.append(base.predict_proba(None)[hidden])
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
    queries = ("random", "entropy", "margin", "variance", "diverse")
    print("one label a class, then 30 questions: mean accuracy over the 30 rounds")
    print(f"{'':12}" + "".join(f"{query:>10}" for query in queries))
    for name in (*UCI, "digits"):
        X, truth = data(name)
        n_start = 2 * len(np.unique(truth))
        row, base = [], None
        for query in queries:
            scores = []
            for seed in range(DRAWS):
                y = draw(truth, n_start, seed)
                model = UnifiedKernelMachine(query=query, random_state=seed)
                base = model.fit(X, y) if base is None else base
                model = base.set_params(query=query).with_labels(y)
                model._n_asked = seed * 1000
                curve = []
                for _ in range(30):
                    asked = model.ask(1)
                    model.tell(asked, truth[asked])
                    rest = np.setdiff1d(np.arange(len(truth)), model.labeled_)
                    curve.append(np.mean(model.transduction_[rest] == truth[rest]))
                scores.append(np.mean(curve))
            row.append(np.mean(scores))
        print(f"{name:12}" + "".join(f"{value:10.3f}" for value in row), flush=True)


if __name__ == "__main__":
    {"calibration": calibration, "suspicious": suspicious, "active": active}[
        sys.argv[1]
    ]()
