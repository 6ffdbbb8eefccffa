"""How much memory may be used."""

import sys

import pytest

from mercer._base import memory
from mercer._base.memory import GIB


def test_memory_of_a_control_group_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_free_memory", lambda: 8.0 * GIB)
    monkeypatch.setattr(memory, "_group_limits", lambda: [4.0 * GIB])
    assert memory.available_memory() == 3.0 * GIB
    monkeypatch.setattr(memory, "_group_limits", list)
    assert memory.available_memory() == 6.0 * GIB


@pytest.mark.skipif(sys.platform != "linux", reason="Linux gives back")
def test_what_was_freed_goes_back_to_the_system() -> None:
    """The last one of many blocks kept the memory of all of them."""
    blocks = [bytes(2_000) for _ in range(20_000)]
    last = blocks[-1]
    del blocks
    before = memory.resident_memory()
    memory.give_back()
    assert memory.resident_memory() < before - 25e6
    assert len(last) == 2_000
