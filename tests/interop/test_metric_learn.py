"""metric-learn's own tests of classifiers of pairs, run on ours.

They are in its source distribution and not installed: `make test-interop` unpacks it
and names the folder in MERCER_METRIC_LEARN.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("metric_learn", reason="pip install --group interop")
SOURCE = os.environ.get("MERCER_METRIC_LEARN")

FILES = [
    "test_pairs_classifiers.py",
    "test_sklearn_compat.py",
    "test_mahalanobis_mixin.py",
    "test_base_metric.py",
]
# What is not asked of a kernel, and why.
LEFT_OUT = {
    "validate_calibration": "a private function, and the words of its messages",
    "raise_not_fitted_error_if_not_fitted": "asks for a Mahalanobis matrix",
    "toy_example": "sets components_, which a kernel does not have",
    "mahalanobis": "a kernel has no Mahalanobis matrix",
    "components": "a kernel has no components_",
    "embed_dim": "compares with components_",
    "embed_is_linear": "a kernel is not linear",
    "deterministic_initialization": "compares Mahalanobis matrices",
    "pair_score_equivalent": "here a similarity, not minus the distance",
    "pair_distance_dim": "the words of its messages",
    "get_metric_works_does_not_raise": "sets components_",
    "score_pairs_warning": "a name that metric-learn has withdrawn",
    "various_scoring": "names a scorer that scikit-learn has withdrawn",
}


@pytest.mark.skipif(SOURCE is None, reason="MERCER_METRIC_LEARN is not set")
def test_their_tests_pass_on_our_classifier_of_pairs():
    here = Path(__file__).parent / "plugins"
    chosen = "PairClassifier" + "".join(f" and not {name}" for name in LEFT_OUT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "metric_learn_pairs"]
    command += ["-p", "no:cacheprovider", "-W", "ignore", "-k", chosen, "--tb=short"]
    # Our settings, which pytest finds above the folder, do not know their markers.
    command += ["-o", "addopts=", "-o", "filterwarnings="]
    command += [f"test/{name}" for name in FILES]
    paths = [str(here), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    run = subprocess.run(
        command, cwd=SOURCE, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) >= 80
