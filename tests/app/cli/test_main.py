"""The command line."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mercer import __version__
from mercer.app.cli.main import main


def test_version_and_help() -> None:
    assert __version__ in CliRunner().invoke(main, ["--version"]).output
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert "reproduce" not in result.output  # the studies are not in the wheel


def test_starting_imports_no_heavy_package() -> None:
    code = (
        "import sys, mercer.app.cli.main;"
        "print(sorted({'numpy','scipy','sklearn','numba','rich'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


def run_without(package: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line where a package is not installed."""
    code = f"""
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError("not installed", name={package!r})
sys.meta_path.insert(0, Hide())
from mercer.__main__ import run
run()
"""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "extra"),
    [("--help", "app"), ("learn", "tables"), ("label", "studio"), ("fetch", "embed")],
)
def test_without_click_the_extra_is_named(command: str, extra: str) -> None:
    """One that has all that the command needs, so that it is asked for once."""
    said = run_without("click", command)
    assert said.returncode == 2
    assert said.stderr == (
        f'Error: The command line needs click: pip install "mercer[{extra}]"\n'
    )


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_package_is_named_with_its_extra(
    package: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,label\n1,x\n")
    out = str(tmp_path / "out")
    said = run_without(package, "learn", str(tmp_path / "t.csv"), "--out", out)
    assert said.returncode == 2
    assert f'needs {package}: pip install "mercer[tables]"' in said.stderr


@pytest.mark.parametrize("where", ["mercer.app.cli.main", "mercer.app.cli.progress"])
def test_an_interrupt_while_modules_are_imported(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    if where == "mercer.app.cli.main":
        monkeypatch.setattr("mercer.app.cli.main.import_module", stop)
    else:
        monkeypatch.setattr("mercer.app.cli.progress.Display.__init__", stop)
    assert CliRunner().invoke(main, ["learn", "t.csv"]).exit_code == 130


def test_an_interrupt_that_ends_in_another_error_is_still_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            msg = "cannot import name 'x' from 'y'"
            raise ImportError(msg) from error

    monkeypatch.setattr("mercer.app.tables.writing.check_writable", stop)
    assert CliRunner().invoke(main, ["learn", "t.csv"]).exit_code == 130
