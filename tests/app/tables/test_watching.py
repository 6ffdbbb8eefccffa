"""A line in a notebook shows how far a long job is."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mercer._base.progress import quiet, watching
from mercer.app.tables.learning import learn
from tables_at_hand import two_groups


def in_a_notebook(monkeypatch: pytest.MonkeyPatch, shell: Any) -> list[str]:
    """Pretend that IPython runs; return what is shown, drawing by drawing."""
    drawn: list[str] = []

    def update(thing: Any) -> None:
        drawn.append(thing._repr_html_())

    display = ModuleType("IPython.display")
    display.display = lambda thing, *, display_id: SimpleNamespace(update=update)  # type: ignore[attr-defined]
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return drawn


def test_stages_are_shown_and_the_line_goes_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = in_a_notebook(monkeypatch, SimpleNamespace(kernel=object()))
    learn(two_groups(), id="code")
    said = [line.partition("</progress> ")[2] for line in drawn]
    stages = list(dict.fromkeys(said))
    assert stages == [
        "columns to numbers",
        "neighbours and directions",
        "checks with hidden labels",
        "predictions",
        "",
    ]
    checks = {line[17:21] for line in drawn if "checks" in line}
    assert len(checks) > 3, "the bar moves"


def test_an_interrupt_takes_the_line_away(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = in_a_notebook(monkeypatch, SimpleNamespace(kernel=object()))

    def work() -> None:
        with watching(None) as progress:
            progress.stage("a < b")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert drawn == ["<progress value='0.00'></progress> a &lt; b", ""]


@pytest.mark.parametrize("shell", [None, SimpleNamespace()], ids=["none", "terminal"])
def test_elsewhere_nothing_is_shown(monkeypatch: pytest.MonkeyPatch, shell) -> None:
    drawn = in_a_notebook(monkeypatch, shell)
    with watching(None) as progress:
        assert progress is quiet
    assert not drawn
