"""scikit-activeml's own templates, run on our classifier and our strategy.

They are in its repository and not installed: name a checkout in MERCER_SKACTIVEML.
"""

import os
import unittest

import numpy as np
import pytest

skactiveml = pytest.importorskip("skactiveml", reason="pip install mercer[activeml]")
SOURCE = os.environ.get("MERCER_SKACTIVEML")
if SOURCE is None:
    pytest.skip("MERCER_SKACTIVEML is not set", allow_module_level=True)
skactiveml.__path__.append(f"{SOURCE}/skactiveml")

from skactiveml.tests.template_estimator import (  # noqa: E402
    TemplateSkactivemlClassifier,
)
from skactiveml.tests.template_query_strategy import (  # noqa: E402
    TemplateSingleAnnotatorPoolQueryStrategy,
)

from mercer import UnifiedKernelMachine  # noqa: E402
from mercer.active.skactiveml import (  # noqa: E402
    KernelQuery,
    PoolSkactivemlClassifier,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.exceptions.NearlyConstantKernelWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


class TestClassifier(TemplateSkactivemlClassifier, unittest.TestCase):
    def setUp(self):
        super().setUp(
            estimator_class=PoolSkactivemlClassifier,
            init_default_params={
                "model": UnifiedKernelMachine(random_state=0),
                "missing_label": "nan",
            },
            fit_default_params={
                "X": np.array([[0.0], [1.0], [0.5], [0.7]]),
                "y": ["tokyo", "paris", "nan", "nan"],
            },
            predict_default_params={"X": [[1.0]]},
        )

    def test_init_param_model(self):
        self._test_param("init", "model", [(UnifiedKernelMachine(), None)])

    def test_init_param_pool(self):
        self._test_param(
            "init", "pool", [(None, None), (np.arange(8.0)[:, None], None)]
        )

    def test_fit(self):
        clf = PoolSkactivemlClassifier(UnifiedKernelMachine(), classes=[0, 1])
        X = np.arange(6.0)[:, None]
        y = [0, np.nan, np.nan, np.nan, np.nan, 1]
        np.testing.assert_array_equal(clf.fit(X, y).predict(X), [0, 0, 0, 1, 1, 1])

    def test_predict(self):
        clf = PoolSkactivemlClassifier(UnifiedKernelMachine(), classes=[0, 1])
        X = np.arange(3.0)[:, None]
        proba = clf.fit(X, [np.nan] * 3).predict_proba(X)
        np.testing.assert_array_equal(proba, 0.5)
        proba = clf.fit(X, [1, np.nan, np.nan]).predict_proba(X)
        np.testing.assert_array_equal(proba, [[0, 1]] * 3)

    def test_predict_proba(self):
        self.test_predict()


class TestStrategy(TemplateSingleAnnotatorPoolQueryStrategy, unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((12, 2))
        y = np.full(12, np.nan)
        y[:4] = [0, 1, 0, 1]
        super().setUp(
            qs_class=KernelQuery,
            init_default_params={"model": UnifiedKernelMachine(random_state=0)},
            query_default_params_clf={"X": X, "y": y},
        )

    def test_init_param_model(self):
        self._test_param("init", "model", [(UnifiedKernelMachine(), None)])

    def test_query(self):
        params = self.query_default_params_clf
        model = UnifiedKernelMachine(random_state=0)
        rows = KernelQuery(model, random_state=1).query(**params, batch_size=3)
        y = np.where(np.isnan(params["y"]), -1, params["y"])
        np.testing.assert_array_equal(rows, model.fit(params["X"], y).ask(3))
