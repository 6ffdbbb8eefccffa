"""Which rows a model asks about."""

from typing import TYPE_CHECKING

import numpy as np

from mercer._base.threads import using_threads
from mercer._base.typing import IntArray
from mercer.active.cold import MOST_UNSEEN, cold_rows, unseen_share
from mercer.active.strategies import EXPLORING, ask_rows

if TYPE_CHECKING:
    from mercer.model.estimator import UnifiedKernelMachine


def rows_to_ask(
    model: "UnifiedKernelMachine",
    n: int,
    excluded: IntArray,
    rng: np.random.Generator,
) -> IntArray:
    """Return positions of the unlabelled rows most worth a label.

    Parameters
    ----------
    model : fitted UnifiedKernelMachine
    n : int
        How many.
    excluded : ndarray of int
        Positions of rows not to ask about.
    rng : numpy.random.Generator
    """
    if looks_for_classes(model):
        return cold_rows(
            model._features,
            n,
            n_points=len(model.ids_),
            asked=np.union1d(model.labeled_, excluded),
            rng=rng,
        )
    if callable(model.query):
        asked = model.query(model, n + len(excluded), rng)
        rows = np.asarray(asked, dtype=np.intp)
        return rows[~np.isin(rows, excluded)][:n]
    with using_threads():
        return ask_rows(
            model.query,
            n,
            n_points=len(model.ids_),
            proba_of=model._training_proba_of,
            features_of=model._features,
            labeled=model.labeled_,
            rng=rng,
            excluded=excluded,
        )


def looks_for_classes(model: "UnifiedKernelMachine") -> bool:
    """Tell whether many rows may be of classes that have no label yet."""
    if len(model.classes_) < 2:
        return True
    if callable(model.query) or model.sources_ is not None:
        return False  # what sources vote for are the classes
    return may_lack_classes(model.query, model.labels_.counts())


def may_lack_classes(query: str, counts: IntArray) -> bool:
    """Tell whether a query looks for further classes, by the labels of each."""
    return query in EXPLORING and unseen_share(counts) > MOST_UNSEEN
