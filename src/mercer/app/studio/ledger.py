"""What the events say: classes, their sizes, answers, skips and pairs that stand."""

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from typing import Any, NamedTuple

ACTS = ("answer", "skip", "clear", "pair", "drop", "assign")  # that undo takes back
START = "(start)"  # who said what a studio was started with


class Event(NamedTuple):
    """One line of the history, in the order of the store's columns."""

    seq: int
    at: float
    who: str
    # answer, skip, clear, pair, undo, reask; class, rename, sizes, drop, look;
    # note, flag, guide, goal
    kind: str
    token: str
    item: str | None = None
    other: str | None = None
    label: int | None = None
    digest: str | None = None
    purpose: str | None = None
    guess: int | None = None
    sure: float | None = None
    n_labels: int | None = None
    undoes: int | None = None
    text: str | None = None


class Ledger:
    """The history folded into its present state; grows by one event at a time.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.add(Event(1, 0.0, "ann", "class", "t1", label=0, text="cat"))
    >>> ledger.add(Event(2, 0.0, "ann", "answer", "t2", item="row 7", label=0))
    >>> ledger.label_of("row 7")
    0
    >>> ledger.add(Event(3, 0.0, "ann", "undo", "t3", undoes=2))
    >>> ledger.label_of("row 7") is None
    True
    """

    def __init__(self) -> None:
        self.seq = 0
        self.events: list[Event] = []
        self.by_token: dict[str, Event] = {}
        self.classes: dict[int, str] = {}
        self.sizes: dict[int, float] = {}  # percent, of classes that have a known size
        self.first_sizes: Event | None = None  # those that the studio was started with
        self.answers: dict[str, dict[str, Event]] = {}  # item, person
        self.skips: dict[str, dict[str, Event]] = {}
        self.pairs: dict[tuple[str, str], dict[str, Event]] = {}
        self.undone: set[int] = set()
        self.dropped: dict[int, str] = {}  # names of classes that were removed
        self.notes: dict[str, str] = {}
        self.flags: set[str] = set()
        self.assigned: dict[str, str] = {}  # who alone is asked about an item
        self.looks: dict[int, dict[str, Any]] = {}  # key, colour, place, about
        self.guide = ""
        self.goal = 0  # rows to be labelled; 0 for no goal
        self.n_answers = 0  # ever given
        self.is_checked = False  # whether a random question was ever answered
        self._of_item: dict[str, list[Event]] = defaultdict(list)
        self._reasked = 0

    def add(self, event: Event) -> None:
        """Take one more event, in order of `seq`."""
        if event.seq <= self.seq:
            return
        self.seq = event.seq
        self.events.append(event)
        self.by_token[event.token] = event
        if event.kind in {"class", "rename"} and event.label is not None:
            self.classes[event.label] = event.text or ""
        elif event.kind == "sizes":
            said = json.loads(event.text or "{}")
            self.sizes = {int(label): percent for label, percent in said.items()}
            if event.who == START:
                self.first_sizes = event
        elif event.kind == "undo" and event.undoes is not None:
            act = self.act_of(event.undoes)
            self.undone.update(undone.seq for undone in act)
            for undone in act:
                if undone.kind == "drop" and undone.label in self.dropped:
                    self.classes[undone.label] = self.dropped.pop(undone.label)
            for item in {undone.item or "" for undone in act}:
                self._refold(item)
        elif event.kind == "drop" and event.label in self.classes:
            self.dropped[event.label] = self.classes.pop(event.label)
        elif event.kind in {"note", "flag", "look", "guide", "goal"}:
            self._set(event)
        elif event.kind == "reask":
            self._reasked = event.seq
            self.skips.clear()
        else:
            self._of_item[event.item or ""].append(event)
            self.n_answers += event.kind == "answer"
            self.is_checked |= event.kind == "answer" and event.purpose == "check"
            self._apply(event)

    @property
    def next_label(self) -> int:
        """Return the number of a class to come."""
        return max([*self.classes, *self.dropped], default=-1) + 1

    def name_of(self, label: int) -> str:
        """Return the name of a class, also of one that was removed a moment ago."""
        return self.classes.get(label, self.dropped.get(label, str(label)))

    def place_of(self, one: tuple[int, str]) -> tuple[float, int]:
        """Return what classes, a number and a name each, are sorted by."""
        place = self.looks.get(one[0], {}).get("place")
        return (one[0] if place is None else place, one[0])

    def _set(self, event: Event) -> None:
        """Take what is set besides answers; the last word counts."""
        item = event.item or ""
        if event.kind == "note":
            self.notes.pop(item, None)
            if event.text:
                self.notes[item] = event.text
        elif event.kind == "flag":
            (self.flags.add if event.label else self.flags.discard)(item)
        elif event.kind == "look" and event.label is not None:
            self.looks[event.label] = json.loads(event.text or "{}")
        elif event.kind == "guide":
            self.guide = event.text or ""
        else:
            self.goal = event.label or 0

    def _apply(self, event: Event) -> None:
        item = event.item or ""
        if event.kind == "pair":
            self.pairs.setdefault((item, event.other or ""), {})[event.who] = event
            return
        if event.kind == "assign":
            self.assigned.pop(item, None)
            if event.text:
                self.assigned[item] = event.text
            return
        if event.kind == "clear":
            self.answers.pop(item, None)
            self.skips.pop(item, None)
            return
        for kind, where in (("answer", self.answers), ("skip", self.skips)):
            of_item = where.get(item, {})
            of_item.pop(event.who, None)
            if event.kind == kind:
                of_item[event.who] = event
            if of_item:
                where[item] = of_item
            else:
                where.pop(item, None)

    def _refold(self, item: str) -> None:
        """Apply again what is left of the events of an item."""
        for where in (self.answers, self.skips, self.assigned):
            where.pop(item, None)
        for pair in [p for p in self.pairs if p[0] == item]:
            del self.pairs[pair]
        for event in self._of_item[item]:
            is_old_skip = event.kind == "skip" and event.seq < self._reasked
            if event.seq not in self.undone and not is_old_skip:
                self._apply(event)

    def act_of(self, seq: int) -> list[Event]:
        """Return the events that were written together with one, and end with it.

        Their tokens have the same part before ``#``.
        """
        end = bisect_left(self.events, seq, key=lambda event: event.seq)
        act, start = _act(self.events[end].token), end
        while act and start and _act(self.events[start - 1].token) == act:
            start -= 1
        return self.events[start : end + 1]

    def touched(self, event: Event) -> set[str]:
        """Return the items whose answers an event changed."""
        if event.kind == "undo" and event.undoes is not None:
            return {undone.item for undone in self.act_of(event.undoes) if undone.item}
        return {event.item} if event.item else set()

    def last_of(self, who: str) -> Event | None:
        """Return the latest act of a person on rows that still stands."""
        for event in reversed(self.events):
            if event.kind in ACTS and event.who == who and event.seq not in self.undone:
                return event
        return None

    def label_of(self, item: str) -> int | None:
        """Return the class that most people gave; None without one or in a tie."""
        answers = self.answers.get(item)
        if not answers:
            return None
        votes = Counter(event.label for event in answers.values()).most_common(2)
        if len(votes) == 2 and votes[0][1] == votes[1][1]:
            return None
        return votes[0][0]

    def is_accepted(self, item: str) -> bool:
        """Tell whether a label is an accepted prediction that no person gave."""
        label = self.label_of(item)
        given = [e for e in self.answers.get(item, {}).values() if e.label == label]
        return bool(given) and all(e.purpose == "accepted" for e in given)

    def said_by_people(self, item: str) -> dict[str, int]:
        """Return the class that each person gave an item; none once it is confirmed.

        Predictions that were accepted are the model's own word, and are left out.
        """
        if self.is_confirmed(item):
            return {}
        return {
            who: event.label
            for who, event in self.answers.get(item, {}).items()
            if event.purpose != "accepted" and event.label in self.classes
        }

    def is_confirmed(self, item: str) -> bool:
        """Tell whether somebody has looked at the label again and found it right."""
        label = self.label_of(item)
        given = self.answers.get(item, {}).values()
        return any(e.purpose == "confirmed" and e.label == label for e in given)

    def given(self) -> dict[str, dict[str, int]]:
        """Return the class that each person gave each item."""
        return {
            item: {who: event.label or 0 for who, event in answers.items()}
            for item, answers in self.answers.items()
        }

    def disagreements(self) -> dict[str, dict[str, int]]:
        """Return the same of items that people labelled differently, latest first."""
        every = reversed(self.given().items())
        return {item: of for item, of in every if len({*of.values()}) > 1}

    def acts_on(self, item: str) -> dict[str, Event]:
        """Return the answer or the skip of each person that stands."""
        return {**self.skips.get(item, {}), **self.answers.get(item, {})}

    def people(self) -> dict[str, int]:
        """Return how many answers of each person stand."""
        counts: Counter[str] = Counter()
        for answers in self.answers.values():
            counts.update(answers.keys())
        return dict(counts.most_common())


def _act(token: str) -> str:
    """Return what the tokens of one act have in common; nothing for a single event.

    Examples
    --------
    >>> _act("7f3a#0"), _act("7f3a")
    ('7f3a', '')
    """
    return token.rpartition("#")[0]
