"""Points that cannot be used are refused in the same words by every estimator."""

import inspect
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from mercer.graphs import nearest_neighbors
from mercer.kernels import RBF

PACKAGES = ("mercer", "mercer.fewlabels", "mercer.learners", "mercer.machines")
NOT_ESTIMATORS = {"Session", "Basis"}  # made by learn, and a protocol


def estimators() -> list[type]:
    found = {}
    for package in (*PACKAGES, "mercer.spectrum"):
        module = import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and hasattr(thing, "fit"):
                found[name] = thing
    return [found[name] for name in sorted(found) if name not in NOT_ESTIMATORS]


def table(n: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((n, 2)), columns=["size", "colour"])


def labels(n: int = 12):
    return np.arange(n) % 2


def test_the_estimators_are_found() -> None:
    assert len(estimators()) >= 25


@pytest.mark.parametrize("made", estimators())
def test_text_is_named_by_its_column(made: type) -> None:
    X = table().astype(object)
    X.loc[3, "colour"] = "red"
    if made.__name__ == "PairClassifier":  # points come in pairs
        with pytest.raises(ValueError, match="column 1 of X holds 'red'"):
            made().fit(X.to_numpy().reshape(6, 2, 2), labels(6))
        return
    with pytest.raises(ValueError, match="column 'colour' of X holds 'red'; give"):
        made().fit(X, labels())
    with pytest.raises(ValueError, match="column 1 of X holds 'red'"):
        made().fit(X.to_numpy().astype(str), labels())


@pytest.mark.parametrize(
    "used",
    [
        RBF(),
        RBF().diag,
        lambda X: nearest_neighbors(X, 2, rng=np.random.default_rng(0)),
    ],
)
def test_text_is_named_by_functions_of_points(used) -> None:
    X = table().astype(object)
    X.loc[3, "colour"] = "red"
    with pytest.raises(ValueError, match="column 'colour' of X holds 'red'"):
        used(X)
