"""How much memory may be used."""

import pytest

from mercer._base import memory
from mercer._base.memory import GIB


def test_memory_of_a_control_group_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_free_memory", lambda: 8.0 * GIB)
    monkeypatch.setattr(memory, "_group_limits", lambda: [4.0 * GIB])
    assert memory.available_memory() == 3.0 * GIB
    monkeypatch.setattr(memory, "_group_limits", list)
    assert memory.available_memory() == 6.0 * GIB
