"""Every method after a fit on every kind of input works, or refuses in words."""

from collections.abc import Callable
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer import Pairs, UnifiedKernelMachine
from mercer.graphs.neighbors import neighbor_graph
from mercer.learners.combination import AverageKernel
from mercer.learners.parameter_free import ParameterFreeKernel

N = 60
X, TRUTH = make_moons(N, noise=0.1, random_state=0)
Y = np.where(np.arange(N) < 12, TRUTH, -1)
NEW, ANSWERS = X[:5] + 0.01, TRUTH[:5]
SOFT = np.where((Y >= 0)[:, None], 0.8 * np.eye(2)[TRUTH] + 0.1, 0.0)
FRAME = pd.DataFrame(X, columns=["a", "b"], index=[f"row {i}" for i in range(N)])


def tensor(points: Any) -> Any:
    torch = pytest.importorskip("torch", reason="needs the extra 'gpu'")
    return torch.as_tensor(points)


def dask(points: Any) -> Any:
    da = pytest.importorskip("dask.array", reason="needs the extra 'dask'")
    return da.from_array(points, chunks=(20, 2))


def default() -> UnifiedKernelMachine:
    return UnifiedKernelMachine(random_state=0)


# What is fitted, how points come, and the labels.
KINDS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Any]] = {
    "array": (default, np.asarray, Y),
    "single precision": (default, np.float32, Y),
    "list": (default, lambda points: np.asarray(points).tolist(), Y.tolist()),
    "sparse": (default, sparse.csr_array, Y),
    "frame": (
        default,
        lambda points: (
            FRAME if points is X else pd.DataFrame(points, columns=["a", "b"])
        ),
        pd.Series(Y, index=FRAME.index),
    ),
    "tensor": (default, tensor, Y),
    "dask": (default, dask, Y),
    "graph": (
        lambda: UnifiedKernelMachine(ParameterFreeKernel(), "rls", random_state=0),
        lambda points: (
            neighbor_graph(points, 5, rng=np.random.default_rng(0))
            if points is X
            else rbf_kernel(points, X, gamma=9.0)  # weights to the points of the graph
        ),
        Y,
    ),
    "pairs": (default, np.asarray, Y),
    "soft labels": (default, np.asarray, SOFT),
    "words": (default, np.asarray, np.array(["no", "yes", None], object)[Y]),
    "learner without a basis": (
        lambda: UnifiedKernelMachine(AverageKernel(), "klr", random_state=0),
        np.asarray,
        Y,
    ),
}


@cache
def fitted(kind: str) -> Any:
    made, points, y = KINDS[kind]
    evidence = {}
    if kind == "pairs":
        evidence["pairs"] = Pairs.from_labels(TRUTH, n_pairs=40, random_state=0)
    return made().fit(points(X), y, **evidence)


def loaded(model: Any, folder: Path) -> Any:
    mercer.save(model, folder / "model.skops")
    return mercer.load(folder / "model.skops")


def answers(model: Any) -> Any:
    return model.classes_[ANSWERS]


# What is asked of a model, new points as the kind has them, and a folder; and the shape
# that the answer has.
METHODS: dict[str, tuple[Callable[[Any, Any, Path], Any], Any]] = {
    "predict": (lambda m, new, _: m.predict(new), (5,)),
    "predict_proba": (lambda m, new, _: m.predict_proba(new), (5, 2)),
    "decision_function": (lambda m, new, _: m.decision_function(new), (5,)),
    "transform": (lambda m, new, _: m.transform(new), (5, ...)),
    "score": (lambda m, new, _: m.score(new, answers(m)), ()),
    "training_proba": (lambda m, *_: m.training_proba(), (N, 2)),
    "label_distributions_": (lambda m, *_: m.label_distributions_, (N, 2)),
    "transduction_": (lambda m, *_: m.transduction_, (N,)),
    "ask": (lambda m, *_: m.ask(3), (3,)),
    "tell": (
        lambda m, *_: m.tell(m.ids_[20:22], m.classes_[TRUTH[20:22]]).labeled_,
        (14,),
    ),
    "with_labels": (lambda m, *_: m.with_labels(m.transduction_).labeled_, (N,)),
    "add_rows": (lambda m, new, _: m.add_rows(new).transduction_, (N + 5,)),
    "partial_fit": (
        lambda m, new, _: m.partial_fit(new, answers(m)).labeled_,
        (17,),
    ),
    "held_out_proba": (lambda m, *_: m.held_out_proba(m.labeled_[:3]), (3, 2)),
    "suspicious_labels": (lambda m, *_: m.suspicious_labels().wrong, (12,)),
    "explain new": (lambda m, new, _: m.explain(new).unlabeled, (5, ...)),
    "explain own": (lambda m, *_: m.explain(rows=m.ids_[:4]).unlabeled, (4, ...)),
    "outlook": (lambda m, *_: float(m.outlook().gain), ()),
    "without_rows": (lambda m, new, _: m.without_rows().predict(new), (5,)),
    "save": (lambda m, new, f: loaded(m, f).predict_proba(new), (5, 2)),
    "look": (lambda m, *_: len(m._repr_html_()) > 100, ()),
}
# What is refused, and in which words.
REFUSED = {
    (kind, method): words
    for kind in ("graph", "pairs", "learner without a basis")
    for method, words in (
        ("add_rows", "rows are added to the default basis only; fit again with all"),
        ("partial_fit", "no attribute 'partial_fit'"),
    )
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_after_every_kind_of_input(
    kind: str, method: str, tmp_path: Path
) -> None:
    model, new = copy(fitted(kind)), KINDS[kind][1](NEW)
    asked, shape = METHODS[method]
    words = REFUSED.get((kind, method))
    if words is not None:
        with pytest.raises((TypeError, ValueError, AttributeError), match=words):
            asked(model, new, tmp_path)
        return
    found = np.asarray(asked(model, new, tmp_path))
    assert len(found.shape) == len(shape)
    assert all(want in (..., got) for want, got in zip(shape, found.shape, strict=True))
    if found.dtype.kind == "f":
        assert np.isfinite(found).all()
