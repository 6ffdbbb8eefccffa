"""Answers to and from Label Studio and Prodigy."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mercer.app.studio.parsing import parsed
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio

ID_FIELD = "mercer_id"
# Who answered, in a field that Label Studio keeps: it knows its own users only, and
# refuses files with others.
BY_FIELD = "mercer_by"
MOST_IMPORTED = 200_000


@dataclass(frozen=True, slots=True)
class Foreign:
    """An answer from another program."""

    data: dict[str, Any]  # of the task
    who: str
    label: str | None  # None: the person did not know
    id: str | None


def to_label_studio(studio: Studio) -> bytes:
    """Return all rows as Label Studio tasks, with annotations and predictions."""
    return json.dumps(list(_tasks(studio)), ensure_ascii=False).encode()


def to_prodigy(studio: Studio) -> bytes:
    """Return all answers and skips as JSON lines in the manner of Prodigy's choice."""
    items, ledger = studio.items, studio.store.ledger
    options = [{"id": n, "text": n} for n in ledger.classes.values()]
    lines = []
    for row, key in enumerate(items.keys):
        for who, event in ledger.acts_on(key).items():
            line: dict[str, Any] = {
                "text": _main_text(studio, row),
                "options": options,
                "accept": [],
                "answer": "ignore",
                "_annotator_id": who,
                "_timestamp": int(event.at),
                "meta": {ID_FIELD: items.ids[row]},
            }
            if event.label is not None:
                line["accept"] = [ledger.name_of(event.label)]
                line["answer"] = "accept"
            lines.append(json.dumps(line, ensure_ascii=False))
    return ("\n".join(lines) + "\n" if lines else "").encode()


def from_label_studio(body: bytes) -> Iterator[Foreign]:
    """Read the answers in an export of Label Studio (JSON)."""
    tasks = parsed(body, "the file")
    if not isinstance(tasks, list):
        msg = "a Label Studio export is a list of tasks."
        raise RefusedError(msg)
    for task in tasks:
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            msg = "each task of Label Studio needs an object `data`."
            raise RefusedError(msg)
        for annotation in _objects(task.get("annotations") or task.get("completions")):
            cancelled = bool(annotation.get("was_cancelled"))
            label = None if cancelled else choice_in(annotation.get("result"))
            if label is not None or cancelled:
                name = _name_in(annotation)[:64]
                yield Foreign(task["data"], name, label, task["data"].get(ID_FIELD))


def _name_in(annotation: dict[str, Any]) -> str:
    """Return who gave an annotation: as our files say, else as Label Studio does."""
    for result in _objects(annotation.get("result")):
        meta = result.get("meta")
        if isinstance(meta, dict) and isinstance(meta.get(BY_FIELD), str):
            return str(meta[BY_FIELD])
    who = annotation.get("completed_by", "")
    who = who.get("email", who.get("id", "")) if isinstance(who, dict) else who
    return f"Label Studio {who}".strip()


def from_prodigy(body: bytes) -> Iterator[Foreign]:
    """Read the answers in JSON lines of Prodigy, of choice or of one label."""
    for line in body.splitlines():
        if not line.strip():
            continue
        said = parsed(line, "the file")
        if not isinstance(said, dict):
            msg = "each line of a Prodigy file is an object."
            raise RefusedError(msg)
        answer = said.get("answer")
        chosen, label = said.get("accept"), said.get("label")
        if isinstance(chosen, list) and len(chosen) == 1:
            label = chosen[0]
        if answer == "accept" and isinstance(label, str):
            known: str | None = label
        elif answer == "ignore":
            known = None
        else:
            continue
        meta = said.get("meta")
        id = meta.get(ID_FIELD) if isinstance(meta, dict) else None
        who = f"Prodigy {said.get('_annotator_id') or ''}".strip()[:64]
        yield Foreign(said, who, known, id)


def take_in(studio: Studio, answers: Iterable[Foreign]) -> dict[str, int]:
    """Write answers of another program into the store, each of them once.

    Rows are found by the id that an export of ours carries, by the column of ids, or
    by cells that are equal. Returns how many were taken, known already, and not found.
    """
    counts = {"taken": 0, "known": 0, "not_found": 0}
    by_text = {_main_text(studio, row): row for row in range(len(studio.items))}
    by_id = {id: row for row, id in enumerate(studio.items.ids)}
    for number, answer in enumerate(answers):
        if number >= MOST_IMPORTED:
            msg = f"more than {MOST_IMPORTED:,} answers; import them in parts."
            raise RefusedError(msg)
        row = _row_of(studio, answer, by_id, by_text)
        if row is None:
            counts["not_found"] += 1
            continue
        is_new = studio.take_in(answer.who, row, answer.label)
        counts["taken" if is_new else "known"] += 1
    return counts


def result_of(label: str, from_name: str = "label", to_name: str = "item") -> Any:
    """Return a choice in the form of Label Studio."""
    return {
        "from_name": from_name,
        "to_name": to_name,
        "type": "choices",
        "value": {"choices": [label]},
    }


def _tasks(studio: Studio) -> Iterator[dict[str, Any]]:
    items, ledger = studio.items, studio.store.ledger
    for row, key in enumerate(items.keys):
        data = {name: items.cell(row, name) for name in items.columns}
        yield {
            "id": row + 1,
            "data": {**data, ID_FIELD: items.ids[row]},
            "annotations": [
                {
                    "id": event.seq,
                    "created_at": datetime.fromtimestamp(event.at, UTC).isoformat(),
                    "was_cancelled": event.label is None,
                    "result": []
                    if event.label is None
                    else [
                        {
                            **result_of(ledger.name_of(event.label)),
                            "meta": {BY_FIELD: who},
                        }
                    ],
                }
                for who, event in ledger.acts_on(key).items()
            ],
            "predictions": [
                {
                    "model_version": f"mercer-{studio.snapshot.n_labels}",
                    "score": best["probability"],
                    "result": [result_of(ledger.name_of(best["label"]))],
                }
                for best in studio.prediction(row)[:1]
            ],
        }


def _objects(values: Any) -> list[dict[str, Any]]:
    """Return the objects in a list that another program wrote."""
    is_list = isinstance(values, list)
    return [one for one in values if isinstance(one, dict)] if is_list else []


def choice_in(results: Any) -> str | None:
    """Return the only choice in the results of an annotation, if there is one."""
    for result in _objects(results):
        value = result.get("value")
        chosen = value.get("choices") if isinstance(value, dict) else None
        if isinstance(chosen, list) and len(chosen) == 1 and isinstance(chosen[0], str):
            return chosen[0]
    return None


def _row_of(
    studio: Studio, answer: Foreign, by_id: dict[str, int], by_text: dict[str, int]
) -> int | None:
    column = studio.items.task.id
    own = answer.id if answer.id is not None else answer.data.get(column or "")
    if own is not None and str(own) in by_id:
        return by_id[str(own)]
    texts = [v for v in answer.data.values() if isinstance(v, str)]
    found = {by_text[t] for t in texts if t in by_text}
    return found.pop() if len(found) == 1 else None


def _main_text(studio: Studio, row: int) -> str:
    """Return the longest cell of a row, which is what a text task shows."""
    cells = studio.items.show(row)["cells"]
    return max((cell["value"] for cell in cells), key=len, default="")


IMPORTS: dict[str, Callable[[bytes], Iterator[Foreign]]] = {
    "label_studio": from_label_studio,
    "prodigy": from_prodigy,
}
