"""From a table with a few labels to predictions and a model, in one call."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._labels import Labels, encode_labels
from mercer._typing import FloatArray, IntArray
from mercer.active.strategies import choose_rows
from mercer.machines.klr import KernelLogisticRegression
from mercer.tables.checking import Check, check_by_hiding
from mercer.tables.encoding import ColumnNote, TableEncoder
from mercer.tables.fitting import (
    fit_basis,
    kernel_for_new_rows,
    learn_kernel,
    pairs_among,
    plan_basis,
    takes_pool,
)
from mercer.tables.looking import look
from mercer.tables.memory import MemoryPlan
from mercer.tables.model import FeatureKernel, TableModel, proba_of_features
from mercer.tables.pair_files import read_pairs
from mercer.tables.stages import Stages, quiet
from mercer.tables.table import Table, as_table
from mercer.tables.target import read_ids

if TYPE_CHECKING:
    import pandas as pd

# With less, the shares of the classes outweigh a handful of labels. Tempered by hidden
# labels, the machine mostly has a smaller log-loss than LeaveOneOutRLS.
_C = 10.0


@dataclass(frozen=True, eq=False)
class TableResult:
    """What `learn` found out about a table."""

    table: Table
    target: str
    ids: Any  # (n,)
    labels: Labels
    proba: FloatArray  # (n, n_classes)
    model: TableModel
    notes: list[ColumnNote]
    check: Check | None
    next_rows: IntArray  # to label next, most useful first
    basis: Any
    learner: Any
    features: FloatArray  # (n, r) of the learned kernel
    plan: MemoryPlan
    warnings: tuple[str, ...]
    n_pairs: int

    @property
    def predictions(self) -> "pd.DataFrame":
        """One line a row: id, prediction, probabilities, margin, was it labelled."""
        return predictions_frame(
            self.ids, self.proba, self.labels.classes, self.labels.codes >= 0
        )


def predictions_frame(
    ids: Any, proba: FloatArray, classes: Any, was_labeled: Any = None
) -> "pd.DataFrame":
    """Return the table that is written as predictions.

    The margin is the lead of the first class over the second.
    """
    import pandas as pd

    top = np.partition(proba, -2, axis=1)[:, -2:]
    columns = {
        "id": ids,
        "prediction": classes[proba.argmax(axis=1)],
        "margin": top[:, 1] - top[:, 0],
    }
    if was_labeled is not None:
        columns["labelled"] = was_labeled
    for k, name in enumerate(classes):
        columns[f"probability {name}"] = proba[:, k]
    return pd.DataFrame(columns)


def learn(
    data: Any,
    target: str = "label",
    *,
    id: str | None = None,
    pairs: Any = None,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    allow_single: bool = False,
    labels_as_written: bool = False,
    missing: tuple[str, ...] = (),
    memory: float | None = None,
    random_state: int = 0,
    stages: Stages = quiet,
) -> TableResult:
    """Learn the target of a table from the rows where it is filled in.

    Parameters
    ----------
    data : data frame, dict of arrays, Table or path
        A path is read by `mercer.tables.reading.read_table`.
    target : str, default="label"
        Column to predict; empty cells (None, NaN, "", the number -1, and words such as
        NA, ? and unknown) are unlabelled.
    id : str, optional
        Column that names the rows; not learned from.
    pairs : data frame, Table or path, optional
        Rows known to belong together or apart; see `mercer.tables.pair_files`.
    drop : tuple of str, default=()
        Columns not to learn from.
    keep : tuple of str, default=()
        Columns to learn from although they look misleading: see
        `mercer.tables.looking`.
    allow_single : bool, default=False
        Accept classes with a single label.
    labels_as_written : bool, default=False
        Take every spelling in the target for a class: "Yes" and "yes" for two, and
        "NA", "?" and "unknown" for labels.
    missing : tuple of str, default=()
        Further cells that mean "not known".
    memory : float, optional
        Bytes that may be used; by default three quarters of what is free.
    random_state : int, default=0
        Equal numbers give equal results.
    stages : Stages, optional
        Told which stage begins and how much of it is done.

    Returns
    -------
    TableResult

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1, 2, 1, 2, 8, 9, 8, 9], "label": ["small",
    ...     "small", None, None, "big", "big", None, None]})
    >>> result = learn(table, target="label")
    >>> result.predictions["prediction"].tolist()
    ['small', 'small', 'small', 'small', 'big', 'big', 'big', 'big']
    """
    if isinstance(data, str | Path):
        from mercer.tables.reading import read_table

        data = read_table(
            data,
            as_text=tuple(c for c in (target, id, *drop) if c),
            missing=missing,
            memory=memory,
        )
    table = as_table(data)
    ids = read_ids(table, id)
    looked = look(
        table,
        target,
        id=id,
        drop=drop,
        keep=keep,
        allow_single=allow_single,
        labels_as_written=labels_as_written,
        missing=missing,
    )
    labels = encode_labels(looked.labels)
    evidence = None if pairs is None else read_pairs(pairs, ids)
    rng = np.random.default_rng(random_state)

    stages.begin("columns to coordinates")
    encoder = TableEncoder(random_state=random_state)
    X = encoder.fit_transform(looked.table)
    pool = takes_pool(labels, evidence)
    plan = plan_basis(X, labels, memory, pool=pool)
    stages.tell(f"{len(table):,} rows, {len(labels.labeled):,} labels: {plan}")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stages.begin("neighbours and directions")
        seed = int(rng.integers(2**31))
        basis = fit_basis(X, plan, pool=pool, seed=seed)
        stages.begin("kernel and classifier")
        learner = learn_kernel(basis, labels.codes, evidence, X)
        features = learner.kernel_.features()
        machine = KernelLogisticRegression(FeatureKernel(), C=_C)
        given = labels.classes[labels.codes[labels.labeled]]
        machine.fit(features[labels.labeled], given)
        stages.begin("checks with hidden labels")

        def relearn(part: Any, codes: IntArray, rows: IntArray) -> Any:
            kept = None if evidence is None else pairs_among(evidence, rows)
            points = X if part is basis else rows[:, None]  # of some rows any will do
            return learn_kernel(part, codes, kept, points)

        check = check_by_hiding(
            X, labels, basis, relearn, machine, rng=rng, advance=stages.advance
        )
        stages.begin("predictions")
        temperature = 1.0 if check is None else check.temperature
        proba = proba_of_features(machine, features, temperature)
        next_rows = _next_rows(features, proba, labels, rng)
    model = TableModel(
        encoder,
        kernel_for_new_rows(basis, learner.kernel_),
        machine,
        temperature=temperature,
        target=target,
        id=id,
        image_shape=table.image_shape,
    )
    return TableResult(
        table=table,
        target=target,
        ids=ids,
        labels=labels,
        proba=proba,
        model=model,
        notes=[*encoder.notes_, *looked.column_notes],
        check=check,
        next_rows=next_rows,
        basis=basis,
        learner=learner,
        features=features,
        plan=plan,
        warnings=tuple(
            dict.fromkeys([*looked.notes, *(str(w.message) for w in caught)])
        ),
        n_pairs=0 if evidence is None else len(evidence),
    )


def _words(warning: warnings.WarningMessage) -> str:
    return str(warning.message)


def _next_rows(
    features: FloatArray, proba: FloatArray, labels: Labels, rng: np.random.Generator
) -> IntArray:
    """Return twenty rows to label next: those that tell most about uncertain ones."""
    return choose_rows(
        "reduction",
        20,
        proba=proba,
        features=features,
        labeled=labels.labeled,
        candidates=np.flatnonzero(labels.codes < 0),
        rng=rng,
    )
