"""A team's store: PostgreSQL on loopback, started from Debian's package."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mercer.app.studio.store import Store
from postgres_at_hand import ABSENT, BIN, postgres
from studio_at_hand import rows, small_studio

pytestmark = pytest.mark.skipif(BIN is None, reason=ABSENT)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    pytest.importorskip("psycopg")
    with postgres() as url:
        yield url


def test_people_on_several_studios_share_a_database(url: str, tmp_path: Path) -> None:
    """Four studios answer at once; each item goes to one of them, none is lost."""
    n, people = 80, ["ann", "ben", "cid", "dea"]
    studios = [small_studio(tmp_path, rows(n), store=Store(url)) for _ in people]
    asked: dict[str, list[int]] = {who: [] for who in people}

    def work(studio, who: str) -> None:
        question = studio.next(who)
        while question is not None:
            asked[who].append(question["row"])
            token = f"{who}-{question['row']}"
            question = studio.answer(who, token, question["row"], question["row"] % 2)

    threads = [
        threading.Thread(target=work, args=pair)
        for pair in zip(studios, people, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = [row for rows_of in asked.values() for row in rows_of]
    assert len(every) == len(set(every))
    # The last items may be before one person while another finds nothing left.
    assert len(every) >= n - len(people)
    fresh = Store(url)
    assert fresh.ledger.n_answers == len(every)
    assert all(fresh.ledger.label_of(f"r{row}") == row % 2 for row in every)
    seqs = [event.seq for event in fresh.ledger.events]
    assert seqs == sorted(set(seqs))
    studios[0].undo("ann", "u1")
    studios[1].store.sync()
    assert studios[1].store.ledger.events[-1].kind == "undo"
    for studio in studios:
        studio.store.close()
    fresh.close()
