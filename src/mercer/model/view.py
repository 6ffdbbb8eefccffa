"""How a model looks in a notebook: what it has learned, then a diagram of its parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.html import show
from mercer._base.rows import thinned
from mercer._base.typing import FloatArray
from mercer._base.words import some as some_of

N_ROWS = 20_000  # whose mean confidence is shown
N_KERNELS = 3  # kernels of the mixture named


class ModelView:
    """Puts what a fitted model knows above scikit-learn's diagram."""

    def _facts(self) -> dict[str, Any]:
        """Return what is shown, by name; nothing before `fit`."""
        model: Any = self
        if not hasattr(model, "machine_"):
            return {}
        facts = {
            "rows": len(model.ids_),
            "labelled": len(model.labeled_),
            "classes": names_of(model.classes_),
        }
        if not len(model.ids_):  # `without_rows`
            return {"classes": facts["classes"]}
        certificate: Any = getattr(model.machine_, "certificate_", None)
        if hasattr(certificate, "counted"):
            tested = int(np.count_nonzero(certificate.counted))
            if tested:
                wrong = f"{certificate.n_errors} of {tested} predicted wrong"
                facts["labels, each held out once"] = wrong
        hidden = np.setdiff1d(np.arange(len(model.ids_)), model.labeled_)
        if hasattr(model.machine_, "proba_of_rows") and len(hidden):
            some = thinned(hidden, N_ROWS)
            sure = float(model.machine_.proba_of_rows(some).max(axis=1).mean())
            facts["mean confidence, other rows"] = f"{sure:.0%}"
        evidence: Any = getattr(model.learner_, "certificate_", None)
        if hasattr(evidence, "names"):
            facts["largest weights"] = _largest(evidence.names, evidence.weights)
        if model.basis_ is not None:
            facts["basis"] = model.basis_.certificate_.reason
        return facts

    def _summary(self) -> str:
        facts = self._facts()
        return show(type(self).__name__, facts) if facts else ""

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return self._summary() + diagram

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:  # set_config(display="text") leaves it out
            bundle["text/html"] = self._summary() + bundle["text/html"]
        return bundle


def names_of(classes: NDArray[Any]) -> str:
    """Return the number of classes and the first names."""
    return f"{len(classes)}: {some_of(map(str, classes))}"


def _largest(names: Sequence[str], weights: FloatArray) -> str:
    first = np.argsort(-np.asarray(weights), kind="stable")[:N_KERNELS]
    return "; ".join(f"{names[i]}: {weights[i]:.0%}" for i in first)
