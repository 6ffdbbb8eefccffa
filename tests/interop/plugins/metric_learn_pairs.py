"""Puts our classifier of pairs in the place of metric-learn's own in its tests.

A pytest plugin, loaded in the folder of metric-learn's source distribution.
"""

import sys
import types
import warnings
from pathlib import Path

import pytest

_warns = pytest.warns


def warns(expected=Warning, *args, **kwargs):
    """Take None for "no warning", as pytest did when these tests were written."""
    if expected is None:
        return warnings.catch_warnings(record=True)
    return _warns(expected, *args, **kwargs)


pytest.warns = warns

# Their tests import each other from `test`, which is also a package of Python.
package = types.ModuleType("test")
package.__path__ = [str(Path.cwd() / "test")]
sys.modules["test"] = package

from test import test_utils  # noqa: E402

from mercer.learners.pair_classifier import PairClassifier  # noqa: E402

OURS = [(PairClassifier(random_state=0), test_utils.build_pairs)]
for name in ("pairs_learners", "tuples_learners", "metric_learners"):
    getattr(test_utils, name)[:] = OURS
    getattr(test_utils, f"ids_{name}")[:] = ["PairClassifier"]
