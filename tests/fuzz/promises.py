"""What every public estimator promises, whatever it is given.

Either a ValueError or TypeError with a message, before any arithmetic; or finite
output of the right shape, weights of at least zero, kernels without negative
eigenvalues beyond rounding, probabilities that sum to one, the input untouched, and the
same again for the same seed.
"""

import copy
import warnings
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse import issparse
from sklearn.base import clone

from mercer import Pairs, UnifiedKernelMachine
from mercer.graphs import nearest_neighbors, neighbor_graph
from mercer.kernels import Centered, Linear, Normalized, Polynomial, TraceNormalized
from mercer.kernels.base import Kernel
from mercer.kernels.parametric import RBF

from .cases import Case

Job = Callable[[Any, Any], dict[str, Any]]
# Their cost or their input is of another kind.
LEFT_OUT = {
    "NPKL": "a semi-definite program per fit; tests/learners/test_npkl_sdp.py",
    "SpectralKernel": "made by learners; its basis must be fitted",
    "Basis": "a protocol",
    "BasisMixin": "a base class",
    "KernelMachine": "a base class",
    "SpectralLearner": "a base class",
    "PoolBasis": "made by the default learner",
    "KernelPool": "made by the default learner",
}


def estimators() -> dict[str, Any]:
    """Every public estimator with its defaults, by name."""
    found: dict[str, Any] = {"UnifiedKernelMachine": UnifiedKernelMachine()}
    for package in ("fewlabels", "learners", "machines", "spectrum"):
        module = import_module(f"mercer.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            is_estimator = isinstance(thing, type) and hasattr(thing, "fit")
            if is_estimator and name not in LEFT_OUT:
                found[name] = thing()
    for estimator in found.values():
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
    return found


def kernels() -> dict[str, Kernel]:
    """Every kind of kernel on rows of numbers."""
    return {
        "Linear": Linear(),
        "Polynomial": Polynomial(),
        "RBF": RBF(),
        "RBF median": RBF(gamma="median"),
        "Sum": Linear() + RBF(),
        "Product": Linear() * RBF(),
        "Normalized": Normalized(Polynomial()),
        "Centered": Centered(RBF()),
        "TraceNormalized": TraceNormalized(RBF()),
    }


def fit(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """Fit a copy, and return everything that a user can see of the result."""
    model = clone(estimator)
    takes_pairs = "pairs" in signature(model.fit).parameters
    if takes_pairs and not isinstance(model, UnifiedKernelMachine):
        model.fit(X, pairs=Pairs.from_labels(y))
    else:
        model.fit(X, y)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    seen: dict[str, Any] = {}
    if hasattr(model, "predict"):
        seen["predictions"] = model.predict(X)
        assert seen["predictions"].shape == (n,)
        assert set(seen["predictions"]) <= set(model.classes_)
        seen["transduction"] = model.transduction_
        assert seen["transduction"].shape == (n,)
    if hasattr(model, "predict_proba"):
        seen["proba"] = proba = model.predict_proba(X)
        assert proba.shape == (n, len(model.classes_))
        assert (proba >= 0).all()
        assert np.allclose(proba.sum(axis=1), 1)
    if hasattr(model, "transform"):
        seen["features"] = features = model.transform(X)
        assert features.shape[0] == n
    weights = getattr(model, "weights_", None)
    # Affine combinations may have negative weights; those of the default are convex.
    if weights is not None and getattr(model, "combination", "") != "affine":
        seen["weights"] = weights
        assert (np.asarray(weights) >= 0).all()
    if isinstance(getattr(model, "vectors_", None), np.ndarray):
        seen["vectors"] = model.vectors_
    return seen


def gram(kernel: Kernel, X: Any, y: Any) -> dict[str, Any]:
    """Return the Gram matrix and the diagonal, which must agree."""
    resolved = kernel.resolve(X)
    K, diagonal = resolved(X), resolved.diag(X)
    assert K.shape == (len(diagonal), len(diagonal))
    size = np.abs(K).max(initial=0)
    assert np.allclose(np.diag(K), diagonal, rtol=1e-6, atol=1e-9 * size)
    # Numbers below have few digits left; a centred kernel of equal points is rounding.
    zero = 1e-12 if isinstance(kernel, Centered) else 1e-290
    if size > zero:
        smallest = np.linalg.eigvalsh(K / size).min()
        assert smallest >= -1e-9 * len(K), f"smallest eigenvalue {smallest:.1e}"
    return {"K": K}


def neighbors(_: Any, X: Any, y: Any) -> dict[str, Any]:
    """Neighbours are sorted, and nobody is a neighbour of itself."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    found = nearest_neighbors(X, n_neighbors=min(3, max(1, n - 1)))
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert not (found.indices == np.arange(n)[:, None]).any()
    graph = neighbor_graph(X, n_neighbors=min(3, max(1, n - 1)))
    adjacency = graph.adjacency.toarray()
    assert (adjacency >= 0).all()
    assert np.array_equal(adjacency, adjacency.T)
    return {"distances": found.distances, "adjacency": adjacency}


def jobs() -> dict[str, tuple[Any, Callable[[Any, Any, Any], dict[str, Any]]]]:
    """Everything that is tried: name to what it is and how it is run."""
    every: dict[str, Any] = {k: (v, fit) for k, v in estimators().items()}
    every |= {f"{k} kernel": (v, gram) for k, v in kernels().items()}
    return every | {"neighbors": (None, neighbors)}


def keeps_promises(name: str, case: Case) -> str:
    """Run one case; return "refused" or "answered", or raise what was broken."""
    thing, run = jobs()[name]
    X, y = case.make()
    before = copy.deepcopy(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)  # arithmetic gone wrong
        try:
            seen = run(thing, X, y)
        except LinAlgError:
            raise
        except (ValueError, TypeError) as error:
            assert len(str(error)) > 15, f"message {error}"  # noqa: PT017
            return "refused"
        again = run(thing, X, y)
    for what, values in seen.items():
        array = np.asarray(values)
        if array.dtype.kind == "f":
            assert np.isfinite(array).all(), f"{what} is not finite"
        assert equal(array, np.asarray(again[what])), f"{what} differs when run again"
    assert equal(X, before), "the input was written to"
    return "answered"


def equal(left: Any, right: Any) -> bool:
    """Compare arrays, frames, sparse arrays and lists; NaN equals NaN."""
    if issparse(left):
        return equal(left.toarray(), right.toarray())
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype.kind in "fc":
        return np.array_equal(left, right, equal_nan=True)
    return np.array_equal(left, right)
