"""What must work where only the wheel and its dependencies are installed."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import make_moons

import mercer

for absent in ("click", "rich", "pooch", "pandas", "matplotlib", "mercer_studies"):
    assert find_spec(absent) is None, f"{absent} is installed; this proves nothing"

X, truth = make_moons(200, noise=0.05, random_state=0)
y = np.where(np.arange(200) < 4, truth, -1)
model = mercer.UnifiedKernelMachine(random_state=0).fit(X, y)
assert np.mean(model.transduction_ == truth) == 1.0
row = model.ask()
model.tell(row, truth[row])
mercer.save(model, "moons.skops")
assert (mercer.load("moons.skops").predict(X) == model.predict(X)).all()

said = subprocess.run(
    [sys.executable, "-m", "mercer"], capture_output=True, text=True, check=False
)
assert said.returncode == 2, said
assert "mercer[app]" in said.stderr, said.stderr
