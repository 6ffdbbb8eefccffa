"""Which columns of an encoded table are compared on their own."""

from dataclasses import replace

import numpy as np

from mercer._base.words import some
from mercer.app.tables.encoding import TableEncoder
from mercer.fewlabels.pools.view import Metric, View
from mercer.fewlabels.rule import DEFAULT, Rule

OTHERS, ASKED = "other columns", "columns for trees"
# How much embeddings count before labels are weighed. On four sets of texts, against 1:
# with 10 and 16 labels +0.3 points, with 20 to 100 -0.05; 2 and 8 are within 0.1 of it.
_PRIOR = 4.0
# A few columns of a table decide, and a node finds these if it tries all of them. On
# nine messy tables (choosing half, 20, 40, 80 labels) 66.9 against 65.1 with the square
# root of their number; coordinates of arrays say about the same each.
ALL_COLUMNS = replace(DEFAULT, tree_tries=1.0)
# The views of a table with names differ in a few columns: each has all graphs. Of more
# rows than this one graph each does: on three tables of 12,000 rows (choosing half) the
# accuracy stays within 0.1 points or gains, and a fit takes 0.8 to 1.8 CPU seconds
# instead of 2.1 to 5.0.
_ROWS_WITH_ALL = 5_000
NAMES_APART = replace(
    ALL_COLUMNS, view_graphs=DEFAULT.graphs, view_anchors=DEFAULT.nearest_anchors
)
# How much all columns count against all without names before labels are weighed. With
# 20 labels names of processors were worth 17 points, and names of storms cost 14.
_NAMES_PRIOR = 3.0
# Limit of work, in rows times views: a view more of a large table doubles its time.
_WORK = 40_000
# More columns of names than this are left out together. A table with 25 of them had
# 6,500 directions for 500 rows and took 43 CPU seconds instead of 3.
_MOST_APART = 6
EVERYTHING = "all columns"


def rule_of(encoder: TableEncoder) -> Rule | None:
    """Return the choices of the model of an encoded table; None: the usual ones."""
    if names_apart(encoder):
        return NAMES_APART if encoder.n_rows_ <= _ROWS_WITH_ALL else ALL_COLUMNS
    return None if encoder.below_ is None else ALL_COLUMNS


def names_apart(encoder: TableEncoder) -> list[str]:
    """Return the columns of names and codes without which rows are also compared."""
    if encoder.kind_ != "mixed" or encoder.embeddings_:
        return []
    if 2 * encoder.n_rows_ > _WORK:
        return []
    columns = list(encoder.coordinates())
    names = [name for name in columns if encoder.is_named(name)]
    return names if 0 < len(names) < len(columns) else []


def views_of(encoder: TableEncoder) -> tuple[View, ...] | None:
    """Return the views of an encoded table, or None if there is only one.

    Where a table has embeddings, these, every text, and all other columns together are
    views of their own. Embeddings and words are compared by the angle around their
    mean. Trees ask about a few directions of them, as a single one of hundreds of
    coordinates says little. Where a table has columns of names or codes, rows are
    compared by all columns, by all without one of these, and by all without any: the
    labels say which counts. Columns that were made for trees are one more view, without
    kernels.
    """
    kernels = _with_kernels(encoder)
    if encoder.below_ is None:
        return kernels or None
    size = encoder.n_coordinates_
    kernels = kernels or (View(OTHERS, slice(size)),)
    asked = np.concatenate(list(encoder.asked_.values()))
    return (
        *(replace(view, trees=False) for view in kernels),
        View(ASKED, asked, kernels=False),
    )


def _with_kernels(encoder: TableEncoder) -> tuple[View, ...]:
    names = names_apart(encoder)
    if names:
        return _without_names(encoder, names)
    made = {embedding.name for embedding in encoder.embeddings_}
    if not made:
        return ()
    if encoder.kind_ != "mixed":
        whole = slice(encoder.n_coordinates_)
        return (View(min(made), whole, "cosine", trees=False),)
    places, views = encoder.coordinates(), []
    apart = [name for name in places if encoder.is_wide(name)]
    for name in apart:
        by_angle = name in made or name not in encoder.vector_sizes_
        metric: Metric = "cosine" if by_angle else "euclidean"
        prior = _PRIOR if name in made else 1.0
        views.append(View(name, places[name], metric, trees=False, prior=prior))
    if not apart:  # every embedding is the same in all rows
        return ()
    held = np.concatenate([places[name] for name in apart])
    others = np.setdiff1d(np.arange(encoder.n_coordinates_), held)
    if len(others):
        views.append(View(OTHERS, others))
    return tuple(views)


def _without_names(encoder: TableEncoder, names: list[str]) -> tuple[View, ...]:
    """Return all columns, all but each of the names, and all but every name.

    On six messy tables with several such columns (choosing half, 400 rows, 20 and 60
    labels) that is -0.1 to 2.6 points ahead of names that are weighed together, as they
    still are where the names, or the rows for as many views, are too many.
    """
    places, every = encoder.coordinates(), np.arange(encoder.n_coordinates_)
    left_out = [[name] for name in names]
    work = encoder.n_rows_ * (len(names) + 2)
    if len(names) == 1 or len(names) > _MOST_APART or work > _WORK:
        left_out = []
    views = [View(EVERYTHING, every, prior=_NAMES_PRIOR)]
    for out, prior in [*((out, 1 / len(names)) for out in left_out), (names, 1.0)]:
        held = np.concatenate([places[name] for name in out])
        kept = np.setdiff1d(every, held)
        views.append(View(f"all but {some(out)}", kept, trees=False, prior=prior))
    return tuple(views)
