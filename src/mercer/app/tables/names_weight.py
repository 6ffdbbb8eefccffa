"""How much kinds of kernels count, and what that says of columns of names."""

from collections.abc import Callable

import numpy as np

from mercer._base.words import some
from mercer.app.report.story import Evidence
from mercer.app.tables.session import Session
from mercer.app.tables.views import names_apart, views_of
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.pools.base import Block
from mercer.fewlabels.weigh import pool_members

# Of the weight of all kernels; before labels it is seven tenths or more.
_LITTLE = 0.4


def weight_of_names(session: Session) -> list[str]:
    """Return a note if columns of names or codes were given little weight."""
    model = session.model
    if model.views is None:  # as where pairs decide, or of many files
        return []
    certificate = model.learner_.certificate_
    if certificate.n_held_out == 0:
        return []
    encoder = session.rows.encoder
    shares, little = shares_of_views(session), []
    views = {
        view.name: view.positions(encoder.n_coordinates_)
        for view in views_of(encoder) or ()
        if view.kernels
    }
    for name in names_apart(encoder):
        at = encoder.coordinates()[name]
        holding = [view for view, held in views.items() if np.isin(at, held).all()]
        if sum(shares.get(view, 0.0) for view in holding) <= _LITTLE:
            little.append(name)
    if not little:
        return []
    which = some([repr(name) for name in little])
    if len(little) == 1:
        said = f"Column {which} was given little weight: it"
    else:
        said = f"Columns {which} were given little weight: they"
    return [f"{said} did not help to predict hidden labels."]


def shares_of_views(session: Session) -> dict[str, float]:
    """Return the weight of the kernels of each view."""
    return {e.kind: e.share for e in evidence_of(session, lambda block: block.view)}


def evidence_of(
    session: Session, kind_of: Callable[[Block], str]
) -> tuple[Evidence, ...]:
    """Return how much each kind of kernel counts, and would without labels."""
    learner = session.model.learner_
    if not isinstance(learner, AutoKernel):
        return ()
    weights = learner.certificate_.weights
    n_classes = max(len(session.labels.classes), 2)
    members = pool_members(learner.basis_.blocks_, n_classes)
    prior = np.array([member.prior for member in members])
    kinds = np.array([kind_of(member.block) for member in members])
    shares = [
        Evidence(
            str(kind),
            float(weights[kinds == kind].sum()),
            float(prior[kinds == kind].sum() / prior.sum()),
        )
        for kind in dict.fromkeys(kinds)
    ]
    return tuple(sorted(shares, key=lambda e: -e.share))
