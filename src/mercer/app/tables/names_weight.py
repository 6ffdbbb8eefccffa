"""What the labels said of columns of names and codes."""

from mercer._base.words import some
from mercer.app.tables.session import Session
from mercer.app.tables.views import EVERYTHING, names_apart

# Of the weight of all kernels; before labels it is three quarters.
_LITTLE = 0.4


def weight_of_names(session: Session) -> list[str]:
    """Return a note if columns of names or codes were given little weight."""
    model = session.model
    if model.views is None:  # as where pairs decide, or of many files
        return []
    names = names_apart(session.rows.encoder)
    if not names:
        return []
    certificate, blocks = model.learner_.certificate_, model.basis_.blocks_
    with_names = {block.name for block in blocks if block.view == EVERYTHING}
    pairs = zip(certificate.names, certificate.weights, strict=True)
    share = sum(w for member, w in pairs if member.startswith(tuple(with_names)))
    if certificate.n_held_out == 0 or share > _LITTLE:
        return []
    which = some([repr(name) for name in names])
    if len(names) == 1:
        said = f"Column {which} was given little weight: it"
    else:
        said = f"Columns {which} were given little weight: they"
    return [f"{said} did not help to predict hidden labels."]
