"""The studio as a machine-learning backend that Label Studio calls."""

from typing import Any
from xml.etree import ElementTree

from mercer.app.studio.interop import ID_FIELD, Foreign, choice_in, result_of, take_in
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio

MOST_CONFIG = 20_000


def version(studio: Studio, said: Any = None) -> dict[str, Any]:
    """Answer ``POST /setup``: by how many labels the model is known."""
    return {"model_version": f"mercer-{studio.snapshot.n_labels}"}


def predict(studio: Studio, said: dict[str, Any]) -> dict[str, Any]:
    """Answer ``POST /predict``: a choice and its probability for each task.

    Label Studio shows tasks of low score first where its sampling is by uncertainty,
    so the score is the probability of the choice.
    """
    from_name, to_name = names_in(said.get("label_config"))
    tasks = said.get("tasks")
    if not isinstance(tasks, list):
        msg = "`tasks` must be a list."
        raise RefusedError(msg)
    known = version(studio)
    by_id = {id: row for row, id in enumerate(studio.items.ids)}
    results = []
    for task in tasks:
        data = task.get("data") if isinstance(task, dict) else None
        data = data if isinstance(data, dict) else {}
        id = str(data.get(ID_FIELD, data.get(studio.items.task.id or "", "")))
        best = studio.prediction(by_id[id])[:1] if id in by_id else []
        if not best:
            results.append({**known, "score": 0.0, "result": []})
            continue
        label = studio.store.ledger.name_of(best[0]["label"])
        result = result_of(label, from_name, to_name)
        results.append({**known, "score": best[0]["probability"], "result": [result]})
    return {"results": results, **known}


def webhook(studio: Studio, said: dict[str, Any]) -> dict[str, Any]:
    """Answer ``POST /webhook``: an annotation was made or changed there."""
    annotation, task = said.get("annotation"), said.get("task")
    if said.get("action") not in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED"):
        return {"taken": 0}
    if not isinstance(annotation, dict) or not isinstance(task, dict):
        msg = "`annotation` and `task` must be objects."
        raise RefusedError(msg)
    label = choice_in(annotation.get("result"))
    data = task.get("data") or {}
    if label is None or not isinstance(data, dict):
        return {"taken": 0}
    who = f"Label Studio {annotation.get('completed_by', '')}".strip()[:64]
    return take_in(studio, [Foreign(data, who, label, data.get(ID_FIELD))])


def names_in(config: Any) -> tuple[str, str]:
    """Return the names of the choices and of what they are about in a label config.

    Examples
    --------
    >>> names_in('<View><Choices name="kind" toName="text"/></View>')
    ('kind', 'text')
    """
    if not isinstance(config, str) or "<!" in config or len(config) > MOST_CONFIG:
        return "label", "item"  # no entities are ever expanded
    try:
        tree = ElementTree.fromstring(config)
    except ElementTree.ParseError:
        return "label", "item"
    choices = tree.find(".//Choices")
    if choices is None:
        return "label", "item"
    return choices.get("name", "label"), choices.get("toName", "item")
