"""The rows that come next, so that a page has them before they are needed."""

import itertools
from typing import Any

from mercer.app.studio.parsing import check_text
from mercer.app.studio.queue import is_check_due, number_of, open_rows
from mercer.app.studio.service import Studio

AHEAD = 10


def ahead(studio: Studio, who: str) -> dict[str, Any]:
    """Return the next questions of a person, and whether they can be shown at once.

    They cannot where the model learns quickly: the next question waits for it, and is
    the better for it. A question that the page shows is claimed with the answer before
    it (`then`).
    """
    check_text(who, "who")
    with studio.locked:
        claims = studio.store.claims()
        own = {item for item, person, _ in claims if person == who}
        checks = open_rows(studio, claims, who, own, is_check=True)
        others = open_rows(studio, claims, who, own, is_check=False)
        first = number_of(studio, claims, who) + len(own)
        plan: dict[int, str] = {}
        for number in range(first, first + AHEAD):
            is_check = is_check_due(studio, claims, who, number, is_checked=True)
            found = (r for r in (checks if is_check else others) if r[0] not in plan)
            plan.update(itertools.islice(found, 1))
        # Those that were sent before may be on the page.
        sent = {**studio.planned.get(who, {}), **plan}
        studio.planned[who] = dict([*sent.items()][-4 * AHEAD :])
    snapshot = studio.snapshot
    is_slow = snapshot.proba is None or snapshot.seconds > studio.patience
    return {
        "questions": [studio.question(row, plan[row]) for row in plan],
        "at_once": is_slow,
    }
