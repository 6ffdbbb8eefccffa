"""`mercer learn` on large tables: CPU seconds and memory of the whole command.

    python benchmarks/learn.py synthetic     697,526 rows x 15 columns, 13,731 labels
    python benchmarks/learn.py covtype       581,012 rows x 54 columns, 100 labels

The first has the shape of the table of scikit-learn issue 6555, whose LabelSpreading
ran out of 32 GB. The second needs MERCER_DATA. Both go through files and the command
line, as a person would do it.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def synthetic(folder: Path) -> tuple[Path, np.ndarray]:
    """Write a CSV of five bent clusters in 15 columns."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n, n_classes = 697_526, 5
    truth = rng.integers(n_classes, size=n)
    angle = rng.uniform(0, np.pi, size=n)
    centres = 1.2 * rng.standard_normal((n_classes, 15))
    bends = rng.standard_normal((n_classes, 2, 15))
    X = centres[truth] + rng.standard_normal((n, 15))
    X += 2.5 * np.cos(angle)[:, None] * bends[truth, 0]
    X += 2.5 * np.sin(angle)[:, None] * bends[truth, 1]
    frame = pd.DataFrame(X.round(4), columns=[f"x{k}" for k in range(15)])
    frame["label"] = ""
    known = rng.choice(n, 13_731, replace=False)
    frame.loc[known, "label"] = [f"group {c}" for c in truth[known]]
    path = folder / "synthetic.csv"
    frame.to_csv(path, index=False)
    return path, np.array([f"group {c}" for c in truth])


def covtype(folder: Path) -> tuple[Path, np.ndarray]:
    """Write forest cover types with 100 labels, drawn at random as in life."""
    with np.load(Path(os.environ["MERCER_DATA"]) / "covtype.npz") as data:
        X, truth = data["X"], data["y"]
    rng = np.random.default_rng(0)
    label = np.full(len(truth), -1)
    known = rng.choice(len(truth), 100, replace=False)
    label[known] = truth[known]
    path = folder / "covtype.npz"
    np.savez(path, X=X, label=label)
    return path, truth.astype(str)


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        path, truth = {"synthetic": synthetic, "covtype": covtype}[name](folder)
        out = folder / "out"
        command = [sys.executable, "-m", "mercer", "learn", str(path)]
        command += ["--out", str(out), "--memory", "4GB"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        import pandas as pd

        said = pd.read_parquet(out / "predictions.parquet")
        hidden = ~said["labelled"].to_numpy()
        right = said["prediction"].astype(str).to_numpy() == truth
        figures = {
            "table": name,
            "cpu_s": round(cpu, 1),
            "peak_gib": round(used.ru_maxrss / 1024**2, 2),
            "accuracy_hidden": round(float(right[hidden].mean()), 4),
            "model_mib": round((out / "model.skops").stat().st_size / 1024**2, 1),
        }
        print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1])
