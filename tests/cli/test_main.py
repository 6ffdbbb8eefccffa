"""The command line."""

import subprocess
import sys

from click.testing import CliRunner

from mercer import __version__
from mercer.cli.main import main


def test_version_and_help() -> None:
    assert __version__ in CliRunner().invoke(main, ["--version"]).output
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert "reproduce" in result.output


def test_starting_imports_no_heavy_package() -> None:
    code = (
        "import sys, mercer.cli.main;"
        "print(sorted({'numpy','scipy','sklearn','numba','rich'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


def test_unknown_study_is_named() -> None:
    result = CliRunner().invoke(main, ["reproduce", "999", "table9"])
    assert result.exit_code == 2
    assert "999 table9" in result.output
