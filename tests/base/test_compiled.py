"""Machine code that is kept on disk is that of the sources."""

import os
import shutil
import subprocess
import sys

from mercer._base.machine_code import compiled

CALLEE = """
from small.compiled import compiled

@compiled()
def f():
    return {}
"""
CALLER = """
from small._callee import f
from small.compiled import compiled

@compiled()
def g():
    return f()

print(g(), sum(g.stats.cache_hits.values()))
"""


def test_a_changed_callee_is_compiled_anew_and_an_unchanged_one_is_not(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "_caller.py").write_text(CALLER)
    shutil.copy(compiled.__file__, folder)

    def run(value):
        (folder / "_callee.py").write_text(CALLEE.format(value))
        command = [sys.executable, "-B", "-c", "import small._caller"]
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run(1) == ["1", "0"]
    assert run(1) == ["1", "1"]
    assert run(2) == ["2", "0"]
