# ruff: noqa: D102
"""All that is measured on a GPU machine, in one run of at most eight minutes.

Run: python benchmarks/gpu/session.py [step ...] [--out folder]

Steps, each of which goes on if another fails: ``times`` (the default on five kinds of
points of 64 columns, second fit of each size; answers and predictions), ``real``
(MNIST, USPS and Covertype, where MERCER_DATA has them), ``profile`` (where the host
spends the time), ``first`` (the first fit of a new process, kernels on disk), ``saved``
(written on the GPU, read without one), ``battery`` (`benchmarks/spectra_tensors.py`),
``ten`` (10,000,000 points) and ``threads`` (the processor with 1 and 16 threads).
Results are printed and written to the folder.
"""

import argparse
import cProfile
import io
import os
import pstats
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np
import torch

from mercer_studies.bench.devices import KINDS, drawn, partly, timed

ROOT = Path(__file__).parents[2]
SIZES = (10_000, 70_000, 1_000_000)
THREADS = (1, 16)


def fitted(X: torch.Tensor, y: np.ndarray) -> object:
    from mercer import UnifiedKernelMachine

    return UnifiedKernelMachine(random_state=0).fit(X, y)


def measure(name: str, X: torch.Tensor, truth: np.ndarray, fits: int = 2) -> str:
    """Return one line of the table: seconds of the last fit, and of what follows."""
    device = str(X.device)
    y, model, seconds = partly(truth), None, []
    for _ in range(fits):
        del model
        second, _, model = timed(lambda: fitted(X, y), device)
        seconds.append(second)
    right = 100 * float(np.mean(model.transduction_ == truth))
    asked, _, rows = timed(lambda: model.ask(1), device)
    told, _, model = timed(lambda: model.tell(rows, truth[rows]), device)
    said, *_ = timed(lambda: model.predict(X[:1000]), device)
    proof = model.basis_.certificate_
    return (
        f"{name:10s} {X.shape[0]:>10,} x {X.shape[1]:<4d} first {seconds[0]:6.2f} "
        f"fit {seconds[-1]:6.2f} ask {asked:5.2f} tell {told:5.2f} predict {said:5.2f} "
        f"right {right:5.1f} residual {proof.residual:.0e} recall {proof.recall:.4f} "
        f"{proof.note[:90]}"
    )


class Session:
    """The steps, and where their lines go."""

    def __init__(self, device: str, out: Path) -> None:
        self.device, self.out, self.lines = device, out, []

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)
        (self.out / "session.txt").write_text("\n".join(self.lines) + "\n")

    def times(self) -> None:
        for n in SIZES:
            for kind in KINDS:
                try:
                    self.say(measure(kind, *drawn(kind, n, self.device)))
                except Exception as error:
                    self.say(f"{kind} {n:,}: {type(error).__name__}: {error}"[:200])
                torch.cuda.empty_cache()

    def real(self) -> None:
        from mercer_studies.data import load

        for name in ("mnist", "usps", "covtype"):
            try:
                data = load(name)
                X = torch.as_tensor(np.asarray(data.X, np.float32), device=self.device)
                self.say(measure(name, X, np.asarray(data.y)))
            except Exception as error:
                self.say(f"{name}: {type(error).__name__}: {error}"[:200])

    def profile(self) -> None:
        for kind, n in (("isotropic", 1_000_000), ("isotropic", 10_000)):
            X, truth = drawn(kind, n, self.device)
            y = partly(truth)
            fitted(X, y)
            watch = cProfile.Profile()
            watch.runcall(fitted, X, y)
            text = io.StringIO()
            stats = pstats.Stats(watch, stream=text)
            stats.sort_stats("cumulative").print_stats("mercer", 45)
            stats.sort_stats("tottime").print_stats(25)
            (self.out / f"profile_{n}.txt").write_text(text.getvalue())

    def first(self) -> None:
        code = (
            "import sys, torch\n"
            "from mercer_studies.bench.devices import drawn, partly, timed\n"
            "from mercer import UnifiedKernelMachine\n"
            "X, truth = drawn('isotropic', int(sys.argv[1]), 'cuda')\n"
            "model = UnifiedKernelMachine(random_state=0)\n"
            "print(timed(lambda: model.fit(X, partly(truth)), 'cuda')[0])\n"
        )
        for n in SIZES:
            done = subprocess.run(
                [sys.executable, "-c", code, str(n)],
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            self.say(
                f"first fit of {n:,}: {(done.stdout + done.stderr)[-200:].strip()}"
            )

    def ten(self) -> None:
        X, truth = drawn("isotropic", 10_000_000, self.device)
        torch.cuda.reset_peak_memory_stats()
        self.say(measure("ten", X, truth, fits=1))
        peak = torch.cuda.max_memory_allocated() / 2**30
        self.say(f"memory of the GPU at its peak: {peak:.1f} GiB")

    def saved(self) -> None:
        import mercer

        X, truth = drawn("flat", 20_000, self.device)
        model = fitted(X, partly(truth))
        path = self.out / "model.mercer"
        self.say(
            f"save: {timed(lambda: mercer.save(model, path), self.device)[0]:.2f} s"
        )
        np.save(self.out / "rows.npy", X[:500].cpu().numpy())
        np.save(self.out / "said.npy", model.predict(X[:500]))
        code = (
            "import sys, numpy as np, mercer, torch\n"
            "assert not torch.cuda.is_available()\n"
            "out = sys.argv[1]\n"
            "model = mercer.load(out + '/model.mercer')\n"
            "rows, said = np.load(out + '/rows.npy'), np.load(out + '/said.npy')\n"
            "same = np.mean(model.predict(rows) == said)\n"
            "print('the same', same, len(model.ask(2)))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(self.out)],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        self.say(f"saved, read without a GPU: {(done.stdout + done.stderr)[-300:]}")
        again = mercer.load(path)
        same = np.mean(again.predict(X[:500]) == model.predict(X[:500]))
        self.say(f"read with a GPU: {same}")
        for name in ("model.mercer", "rows.npy", "said.npy"):
            (self.out / name).unlink()

    def battery(self) -> None:
        code = [
            sys.executable, str(ROOT / "benchmarks/spectra_tensors.py"),
            "--device", self.device, "--max-points", "30000", "--workers", "0",
            "--arrays-up-to", "300", "--seconds", "240", "--cases", "320",
            "--out", str(self.out / "battery.json"),
        ]  # fmt: skip
        done = subprocess.run(
            code, capture_output=True, text=True, timeout=320, check=False
        )
        (self.out / "battery.txt").write_text(done.stdout + done.stderr)
        self.say("\n".join(done.stdout.splitlines()[-12:]) or done.stderr[-600:])

    def threads(self) -> None:
        for threads in THREADS:
            done = subprocess.run(
                [sys.executable, "-m", "mercer_studies", "bench", "devices",
                 "--threads", str(threads), "--size", "100000", "--data", "isotropic"],
                capture_output=True, text=True, timeout=150, check=False,
            )  # fmt: skip
            said = (done.stdout + done.stderr[-200:]).strip()
            self.say(f"{threads:2d} threads: {said}")


def main() -> None:
    steps = ("times", "real", "profile", "first", "saved", "battery", "ten", "threads")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", default=steps)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("."))
    args = parser.parse_args()
    session = Session(args.device, args.out)
    start = time.perf_counter()
    for step in args.steps:
        begun = time.perf_counter()
        try:
            getattr(session, step)()
        except Exception:
            session.say(f"{step} failed: {traceback.format_exc()[-700:]}")
        now = time.perf_counter()
        session.say(f"-- {step}: {now - begun:.0f} s, {now - start:.0f} s in all")


if __name__ == "__main__":
    main()
