"""The studio itself: items, answers and model together, behind plain methods."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._base.typing import IntArray
from mercer.app.studio.classes import MOST_CLASSES, checked_name, counts_of, shares_of
from mercer.app.studio.engine import Snapshot, Told, wait_until
from mercer.app.studio.first_events import (
    given_sizes,
    numbers_of,
    start,
    token_of,
)
from mercer.app.studio.items import Items, changes, names_of
from mercer.app.studio.ledger import Event
from mercer.app.studio.opening import openers
from mercer.app.studio.pairing import agreed, implied_labels
from mercer.app.studio.queue import claim
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.state import state_of
from mercer.app.studio.store import Store, Transaction
from mercer.app.studio.suggestions import suggestions
from mercer.app.studio.worker import ProcessEngine
from mercer.app.tables.votes import votes_of

if TYPE_CHECKING:
    from mercer.app.studio.model_engine import ModelEngine
    from mercer.app.tables.session import Session

CHECK_EVERY = 8  # one question in this many is drawn at random
PATIENCE = 0.2  # seconds; a person looks at a row for longer
MOST_MEASURED = 1_000


class Studio:
    """One table being labelled.

    Parameters
    ----------
    items : Items
    store : Store
    classes : tuple of str, default=()
        Offered besides those in the file and in the store.
    overlap : int, default=1
        People who are asked about the same item.
    check_every : int, default=8
        One question in this many is drawn at random, to estimate the accuracy.
    patience : float, default=0.2
        Seconds that the next question waits for the model to learn from the last
        answer, where learning takes no longer than this.
    session : Session, optional
        Answers come to this session, whose model learns in this process. By default
        the model is in a process of its own.
    engine : ModelEngine or ProcessEngine, optional
        Another model than the default.
    """

    def __init__(
        self,
        items: Items,
        store: Store,
        *,
        classes: tuple[str, ...] = (),
        overlap: int = 1,
        check_every: int = CHECK_EVERY,
        patience: float = PATIENCE,
        session: "Session | None" = None,
        engine: "ModelEngine | ProcessEngine | None" = None,
    ) -> None:
        self.items, self.store = items, store
        self.overlap, self.check_every = overlap, check_every
        self.patience = patience
        self.measuring: dict[str, int] = {}  # random rows still to ask, by person
        self.planned: dict[str, dict[int, str]] = {}  # rows ahead and why, by person
        self.listeners: set[Callable[[], None]] = set()
        self.is_over = False  # streams to pages end
        self.exporting = ""  # the stage of what is learned for an export
        self.locked = threading.RLock()
        given, notes = items.given()
        if session is not None:
            given = names_of(session.y)
        self.votes = None if session is None else session.told.sources
        if session is None and items.task.sources:
            self.votes, _ = votes_of(items.table, items.task, given)
        if self.votes is not None:
            classes = (*classes, *names_of(self.votes.classes))
        named = given_sizes(items.task, session)
        self._given = start(store, given, classes, named)
        self._codes, self._n_folded = self._given.copy(), 0
        self._implied: IntArray | None = None  # codes with what pairs add to them
        self._closed = np.zeros(len(items), dtype=bool)
        self._accepted = np.zeros(len(items), dtype=bool)
        self._people: dict[int, dict[str, int]] = {}
        self.changes = [*notes, *changes(items, store.ledger)]
        self.order = np.random.default_rng(0).permutation(len(items))
        if engine is None and session is not None:
            from mercer.app.studio.model_engine import ModelEngine

            engine = ModelEngine(lambda: session, self.told, self.announce)
        elif engine is None:
            opened, grow = openers(items.table, items.task, given)
            engine = ProcessEngine(opened, self.told, self.announce, grow)
        self.engine = engine

    @property
    def snapshot(self) -> Snapshot:
        """What the model knows now."""
        return self.engine.snapshot

    @property
    def class_sizes(self) -> dict[int, float]:
        """Shares of the classes as people gave them; empty where they did not."""
        return shares_of(self.store.ledger.sizes, counts_of(self))

    def told(self) -> Told:
        """Return what people have said so far.

        A prediction that was accepted is the model's own word: it learns nothing from
        it, and would only be surer of itself.
        """
        with self.locked:
            codes, closed = self.labels()
            codes = np.where(self._accepted, -1, codes)
            numbers = numbers_of(self.store.ledger) if self.votes else {}
            people = dict(self._people)
        return Told(codes, closed, self.class_sizes, numbers, people)

    def announce(self) -> None:
        """Tell those who wait that something has changed."""
        for listener in tuple(self.listeners):
            listener()

    def labels(self) -> tuple[IntArray, IntArray]:
        """Return the class of each row, -1 for none, and the rows not to ask about.

        Only what events since the last call were about is looked at again.
        """
        with self.locked:
            ledger, row_of = self.store.ledger, self.items.row_of
            new = ledger.events[self._n_folded :]
            self._n_folded += len(new)
            if new:
                self._implied = None
            items = set[str]().union(*(ledger.touched(event) for event in new))
            if any(event.kind == "reask" for event in new):
                items |= {self.items.keys[row] for row in np.flatnonzero(self._closed)}
            for item in items & row_of.keys():
                row = row_of[item]
                is_answered = item in ledger.answers
                label = ledger.label_of(item) if is_answered else self._given[row]
                if label is None or label not in ledger.classes:
                    label = -1  # none, or of a class that was removed
                self._codes[row] = label
                self._closed[row] = is_answered or item in ledger.skips
                self._accepted[row] = is_answered and ledger.is_accepted(item)
                self._people.pop(row, None)
                if len(said := ledger.said_by_people(item)) > 1:
                    self._people[row] = said
            if self._implied is None:
                n_classes = len(ledger.classes)
                self._implied = implied_labels(self._codes, self.pairs(), n_classes)
            return self._implied.copy(), np.flatnonzero(self._closed)

    def next(self, who: str) -> dict[str, Any] | None:
        """Return the question for a person: the one on the screen, or the next."""
        with self.locked, self.store.writing() as transaction:
            return claim(self, transaction, who, keep=True)

    def answer(
        self, who: str, token: str, row: int, label: int, then: int | None = None
    ) -> dict[str, Any] | None:
        """Keep an answer for good and return the next question.

        It is the row `then`, which the page shows already, where that is still open.
        """
        self.check_class(label)
        return self._act(who, token, row, "answer", then, label=label)

    def skip(
        self, who: str, token: str, row: int, then: int | None = None
    ) -> dict[str, Any] | None:
        """Note that a person does not know, and return the next question."""
        return self._act(who, token, row, "skip", then)

    def undo(self, who: str, token: str) -> dict[str, Any] | None:
        """Take back the last answer of a person and show its item again."""
        with self.writing() as transaction:
            ledger = self.store.ledger
            if token in ledger.by_token:
                return claim(self, transaction, who, keep=True)
            last = ledger.last_of(who)
            is_many = last is not None and len(ledger.act_of(last.seq)) > 1
            if last is not None and (is_many or last.kind in {"drop", "assign"}):
                transaction.append(who, "undo", token, undoes=last.seq)
                return claim(self, transaction, who, keep=True)
            if last is None or last.item not in self.items.row_of:
                msg = "there is nothing to undo."
                raise RefusedError(msg, 409)
            transaction.append(who, "undo", token, undoes=last.seq, item=last.item)
            is_asked = last.purpose not in {None, "accepted", "confirmed"}
            purpose = str(last.purpose) if is_asked else "again"
            transaction.claim(last.item, who, purpose)
        # A check stays one: what the model predicts is not shown.
        shown = "check" if purpose == "check" else "again"
        return self.question(self.items.row_of[last.item], shown)

    def measure(self, who: str, n: int) -> None:
        """Ask a person about random rows next, so that the accuracy is known better."""
        if not 1 <= n <= MOST_MEASURED:
            msg = f"measure with 1 to {MOST_MEASURED:,} rows."
            raise RefusedError(msg)
        with self.locked, self.store.writing() as transaction:
            self.measuring[who] = n
            transaction.release(who)

    def reask(self, who: str, token: str) -> None:
        """Let skipped items be asked about again."""
        self.append(who, "reask", token)

    def take_in(self, who: str, row: int, name: str | None) -> bool:
        """Keep an answer of another program, once; None stands for a skip."""
        key = self.items.keys[row]
        if name is None:
            label = None
        else:
            known = {n: c for c, n in self.store.ledger.classes.items()}
            label = known.get(name.strip())
            if label is None:
                label = self.add_class(who, token_of(name), name)
        kept = self.store.ledger.answers if name else self.store.ledger.skips
        before = kept.get(key, {}).get(who)
        if before is not None and before.label == label:
            return False
        token = token_of(f"{who}\n{key}\n{label}\n{self.store.ledger.seq}")
        fields = {} if label is None else {"label": label}
        with self.writing() as transaction:
            kind = "skip" if label is None else "answer"
            self.write(transaction, who, token, row, kind, fields)
        return True

    def pairs(self) -> list[tuple[int, int, bool]]:
        """Return the pairs that people agree on."""
        return agreed(self.store.ledger, self.items.row_of)

    def add_class(self, who: str, token: str, name: str) -> int:
        """Make a class and return its number."""
        with self.writing() as transaction:
            ledger = self.store.ledger
            if token in ledger.by_token:
                return ledger.by_token[token].label or 0
            name, label = checked_name(self, name), ledger.next_label
            if len(ledger.classes) >= MOST_CLASSES:
                msg = f"there are {MOST_CLASSES} classes already, which is the limit."
                raise RefusedError(msg)
            transaction.append(who, "class", token, label=label, text=name)
        return label

    def question(self, row: int, purpose: str) -> dict[str, Any]:
        """Return a row with what the model says about it."""
        ledger, key = self.store.ledger, self.items.keys[row]
        return {
            **self.items.show(row),
            "purpose": purpose,
            "prediction": self.prediction(row),
            "sources": [] if purpose == "check" else suggestions(self, row),
            "label": ledger.label_of(key),
            "note": ledger.notes.get(key, ""),
            "flagged": key in ledger.flags,
        }

    def prediction(self, row: int) -> list[dict[str, Any]]:
        """Return classes and probabilities of a row, most probable first."""
        snapshot = self.snapshot
        if snapshot.proba is None:
            return []
        proba = snapshot.proba[row]
        order = np.argsort(-proba, kind="stable")[:10]
        return [
            {"label": snapshot.classes[c], "probability": round(float(proba[c]), 4)}
            for c in order
        ]

    def state(self) -> dict[str, Any]:
        """Return what the page shows around the question."""
        return state_of(self)

    def check_row(self, row: Any, data: Any) -> int:
        """Return a row number that a page sent, if it belongs to this table."""
        if data != self.items.fingerprint:
            msg = "the table has changed since the page was opened; reload the page."
            raise RefusedError(msg, 409)
        if type(row) is not int or not 0 <= row < len(self.items):
            msg = f"row must be a number from 0 to {len(self.items) - 1}."
            raise RefusedError(msg)
        return row

    def _act(
        self,
        who: str,
        token: str,
        row: int,
        kind: str,
        then: int | None = None,
        **fields: Any,
    ) -> dict[str, Any] | None:
        key = self.items.keys[row]
        with self.locked:
            snapshot = self.snapshot
            with self.writing() as transaction:
                if token not in self.store.ledger.by_token:
                    event = self.write(transaction, who, token, row, kind, fields)
                    self._measured(who, event)
                question = claim(
                    self, transaction, who, keep=False, done=key, then=then
                )
        if (
            question is None
            or question["row"] == then
            or not self._learns_soon(snapshot)
        ):
            return question
        with self.locked, self.store.writing() as transaction:
            return claim(self, transaction, who, keep=False)

    def _measured(self, who: str, event: Event) -> None:
        """Count a random row that was asked about on request."""
        if who in self.measuring and event.purpose == "check":
            self.measuring[who] -= 1
            if self.measuring[who] == 0:
                del self.measuring[who]

    def _learns_soon(self, before: Snapshot) -> bool:
        """Wait until the model has learned the last answer, where that is quick."""
        if before.proba is None or before.error or before.seconds > self.patience:
            return False
        told = self.told().digest()
        return before.learned_from != told and wait_until(
            lambda: self.snapshot.learned_from == told, self.patience
        )

    def write(
        self,
        transaction: Transaction,
        who: str,
        token: str,
        row: int,
        kind: str,
        fields: dict[str, Any],
    ) -> Event:
        """Write an event about a row, with what the model thought of it."""
        (about,) = self.fields_of([row])
        if "purpose" not in fields:
            shown = {(i, w): p for i, w, p in transaction.claims()}
            fields = {**fields, "purpose": shown.get((about["item"], who), "picked")}
        return transaction.append(who, kind, token, **about, **fields)

    def fields_of(self, rows: Sequence[int] | IntArray) -> list[dict[str, Any]]:
        """Return what is kept of rows with every act: content, and the model's view."""
        snapshot, items = self.snapshot, self.items
        proba = None if snapshot.proba is None else snapshot.proba[rows]
        best = None if proba is None else proba.argmax(axis=1)
        return [
            {
                "item": items.keys[row],
                "digest": items.digests[row],
                "guess": None if best is None else snapshot.classes[int(best[k])],
                "sure": None if proba is None else float(proba[k].max()),
                "n_labels": snapshot.n_labels,
            }
            for k, row in enumerate(rows)
        ]

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Write events, then notify the model and those who wait."""
        with self.locked:
            with self.store.writing() as transaction:
                yield transaction
            self.engine.wake()
            self.announce()

    def append(self, who: str, kind: str, token: str, **fields: Any) -> None:
        """Write an event that is not about a row, once per token."""
        with self.writing() as transaction:
            if token not in self.store.ledger.by_token:
                transaction.append(who, kind, token, **fields)

    def check_class(self, label: Any) -> int:
        """Return the number of a class that a page sent, if there is one."""
        if type(label) is not int or label not in self.store.ledger.classes:
            msg = f"there is no class number {label}; reload the page."
            raise RefusedError(msg)
        return label
