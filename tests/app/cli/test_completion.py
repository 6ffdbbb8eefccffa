"""The shell completes commands and options."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("mercer le", "plain,learn"), ("mercer learn --ta", "--target")],
)
def test_completion(words: str, wanted: str) -> None:
    environment = {
        **os.environ,
        "_MERCER_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "from mercer.app.cli.main import main; main(prog_name='mercer')"
    said = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert wanted in said.stdout


def test_help_of_the_commands_imports_no_heavy_package() -> None:
    code = (
        "import sys; from mercer.app.cli.main import main; "
        "main(['learn', '--help'], standalone_mode=False); "
        "print(sorted({'numpy', 'pandas', 'sklearn', 'rich'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip().endswith("[]")
