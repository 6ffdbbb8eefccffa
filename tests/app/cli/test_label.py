"""The command that opens the studio."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mercer.app.cli.main import main
from mercer.app.studio.serving import Running
from studio_at_hand import rows


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Running]:
    """Collect what would be served until Ctrl-C."""
    found: list[Running] = []

    def serve(self: Running, ready) -> None:
        ready()
        found.append(self)
        self.studio.store.close()
        self.socket.close()

    monkeypatch.setattr(Running, "serve", serve)
    return found


def label(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["label", *map(str, arguments), "--no-open"])


def test_prints_the_link_and_keeps_answers_beside_the_file(
    tmp_path: Path, served: list[Running]
) -> None:
    path = tmp_path / "things.csv"
    rows(4).assign(kind=["a", None, None, None]).to_csv(path, index=False)
    result = label(path, "--target", "kind", "--id", "code", "--classes", "b, c")
    assert result.exit_code == 0, result.output
    (running,) = served
    assert running.url in result.output
    assert running.url.startswith("http://127.0.0.1:")
    assert list(running.studio.store.ledger.classes.values()) == ["b", "c", "a"]
    assert running.studio.items.ids == ["r0", "r1", "r2", "r3"]
    assert (tmp_path / "things.csv.labels.db").exists()
    assert "other machines" not in result.output


FIRST_WORDS = """
import sys
import click

def echo(message, **more):
    loaded = [one for one in ("numpy", "pandas", "sklearn") if one in sys.modules]
    print(message, loaded)
    sys.exit()

click.echo = echo
from mercer.app.cli.main import main
main(["label", "table.csv"])
"""


def test_it_says_that_it_reads_before_anything_large_is_imported() -> None:
    """Nothing was said for five seconds."""
    command = [sys.executable, "-c", FIRST_WORDS]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "Reading table.csv ... []\n"


def test_other_host_is_explained(tmp_path: Path, served: list[Running]) -> None:
    path = tmp_path / "things.csv"
    rows(4).to_csv(path, index=False)
    result = label(path, "--id", "code", "--host", "0.0.0.0")
    assert "can be reached from other machines" in result.output


def test_what_the_page_notes_is_said_in_the_terminal_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looked at the terminal did not learn that nothing was embedded."""

    def serve(self: Running, ready) -> None:
        engine = self.studio.engine
        for notes, error in [(("one",), ""), (("one", "two"), ""), ((), "ended")]:
            engine.snapshot = replace(engine.snapshot, notes=notes, error=error)
            self.studio.announce()
        self.studio.store.close()
        self.socket.close()

    monkeypatch.setattr(Running, "serve", serve)
    rows(4).to_csv(tmp_path / "things.csv", index=False)
    result = label(tmp_path / "things.csv", "--id", "code")
    said = result.output.splitlines()[-3:]
    assert said == ["Note: one", "Note: two", "Error: ended"]
    assert result.stdout == ""


def test_mistakes_are_told(tmp_path: Path) -> None:
    absent = label(tmp_path / "absent.csv")
    assert absent.exit_code == 2
    assert "absent.csv" in absent.output
    path = tmp_path / "things.csv"
    rows(4).to_csv(path, index=False)
    wrong = label(path, "--id", "cod")
    assert wrong.exit_code == 2
    assert "cod" in wrong.output
    nowhere = label(path, "--store", tmp_path / "no" / "folder" / "labels.db")
    assert nowhere.exit_code == 2


def test_cells_that_mean_no_label_are_no_class(
    tmp_path: Path, served: list[Running]
) -> None:
    path = tmp_path / "things.csv"
    rows(4).assign(label=["a", "b", "k.A.", ""]).to_csv(path, index=False)
    result = label(path, "--id", "code", "--missing", "k.A.")
    assert result.exit_code == 0, result.output
    (running,) = served
    assert list(running.studio.store.ledger.classes.values()) == ["a", "b"]


def test_a_column_that_is_left_out_need_not_be_right(
    tmp_path: Path, served: list[Running]
) -> None:
    path = tmp_path / "things.csv"
    rows(10).assign(dose=["<0.1", *"123456789"]).to_csv(path, index=False)
    assert "'<0.1'" in label(path, "--id", "code").output
    result = label(path, "--id", "code", "--drop", "dose")
    assert result.exit_code == 0, result.output
    (running,) = served
    assert running.studio.items.show(0)["cells"][1]["value"] == "<0.1"


@pytest.mark.parametrize("option", ["--drop", "--keep", "--embed", "--source", "--id"])
def test_a_column_that_is_not_there_is_said_at_once(
    option: str, tmp_path: Path, served: list[Running]
) -> None:
    """The page opened, and its model ended, or nothing was embedded."""
    path = tmp_path / "things.csv"
    rows(8).to_csv(path, index=False)
    result = label(path, "--classes", "a,b", option, "nope")
    assert result.exit_code == 2
    assert "has no column 'nope'" in result.output
    assert f"with {option} (" in result.output
    assert served == []
    assert not (tmp_path / "things.csv.labels.db").exists()
