"""The model on one GPU: seconds, recall and accuracy.

Run ``python benchmarks/gpu/run.py [set ...] [--device cuda] [--out table.md]``, with

- ``mnist``: 70,000 x 784, one graph: 10 neighbours, 100 directions, 100 labels;
- ``million``: 1,000,000 x 64, the same;
- ``default``: the default model on the same points and labels;
- ``ten``: 10,000,000 x 64, one graph as before.

The points of the last three are twenty Gaussians of 10 dimensions each in 64, plus
noise, as in `mercer_studies.bench`; each Gaussian is a class. One graph means
``UnifiedKernelMachine(ParameterFreeKernel(GraphBasis(100)), "rls")``. Every set is run
twice and the second run counts: the first compiles the kernels. Points are on the
device before the clock starts; it stops when all predictions are on the host. Recall
is measured against double precision on 256 sampled rows, inside the time.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

from mercer.backends.torch import basis as torch_basis
from mercer.backends.torch import search as torch_search
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.model.estimator import UnifiedKernelMachine
from mercer.spectrum.graph import GraphBasis

LABELS = 100


def mixture(n: int, device: str, d: int = 64, intrinsic: int = 10) -> tuple:
    draw = torch.Generator(device=device)
    draw.manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, device=device)

    labels = torch.randint(20, (n,), generator=draw, device=device)
    centers, axes = normal(20, d), normal(20, intrinsic, d) / intrinsic**0.5
    X = 0.1 * normal(n, d)
    X += centers[labels]
    for c in range(20):
        rows = (labels == c).nonzero()[:, 0]
        X[rows] += normal(len(rows), intrinsic) @ axes[c]
    return X, labels.cpu().numpy()


def mnist(device: str) -> tuple:
    from mercer_studies.data import load

    data = load("mnist", dtype=np.float32)
    return torch.as_tensor(data.X, device=device), data.y


def partly(truth: np.ndarray) -> np.ndarray:
    """Return labels of which only a few of each class are known."""
    rng = np.random.default_rng(0)
    y = np.full(len(truth), -1)
    classes = np.unique(truth)
    for c in classes:
        rows = rng.choice(
            np.flatnonzero(truth == c), LABELS // len(classes), replace=False
        )
        y[rows] = c
    return y


def now(device: str) -> float:
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()


def one_graph() -> UnifiedKernelMachine:
    learner = ParameterFreeKernel(GraphBasis(100, random_state=0))
    return UnifiedKernelMachine(learner, "rls", random_state=0)


def timed_stages(log: dict[str, float], device: str) -> None:
    """Have the seams write down how long they take."""

    def wrap(module: object, name: str, label: str) -> None:
        inner = getattr(module, name)

        def outer(*args: object, **kwargs: object) -> object:
            start = now(device)
            found = inner(*args, **kwargs)
            log[label] = log.get(label, 0.0) + now(device) - start
            return found

        setattr(module, name, outer)

    wrap(torch_search.TorchSearch, "neighbors", "search")
    for name in ("graph_of", "component_labels", "null_vectors"):
        wrap(torch_basis, name, "graph")
    wrap(torch_basis, "smallest_pairs", "eigenpairs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=["mnist", "million", "default"])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n", type=int, help="points in place of those of the sets")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    device = args.device
    log: dict[str, float] = {}
    timed_stages(log, device)
    name = torch.cuda.get_device_name() if device.startswith("cuda") else device
    lines = [
        f"{name}, PyTorch {torch.__version__}, Python {sys.version.split()[0]}.",
        "",
        "| points | model | seconds | search | graph | eigenpairs | rest | recall "
        "| residual | accuracy |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    sizes = {"million": 10**6, "default": 10**6, "ten": 10**7}
    for which in args.sets:
        if which == "mnist":
            X, truth = mnist(device)
        else:
            X, truth = mixture(args.n or sizes[which], device)
        y = partly(truth)
        for _ in range(2):
            log.clear()
            start = now(device)
            make = UnifiedKernelMachine if which == "default" else one_graph
            model = make() if which != "default" else make(random_state=0)
            model.fit(X, y)
            seconds = now(device) - start
            print(which, f"{seconds:.2f} s", flush=True)
        proof = model.basis_.certificate_
        rest = seconds - sum(log.values())
        right = float(np.mean(model.transduction_ == truth))
        kind = "default" if which == "default" else "one graph"
        parts = [log[part] for part in ("search", "graph", "eigenpairs")]
        lines.append(
            f"| {X.shape[0]:,} x {X.shape[1]} | {kind} | {seconds:.2f} | "
            + " | ".join(f"{part:.2f}" for part in [*parts, rest])
            + f" | {proof.recall:.4f} | {proof.residual:.0e} | {100 * right:.1f} |"
        )
        print(lines[-1], flush=True)
        del X, model
    table = "\n".join(lines) + "\n"
    print(table)
    if args.out:
        args.out.write_text(table)


if __name__ == "__main__":
    main()
