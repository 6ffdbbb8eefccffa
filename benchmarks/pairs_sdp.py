"""The closed form of the linear loss against NPKL's semi-definite programs.

    python benchmarks/pairs_sdp.py [NAME ...]

100 points, pairs of the paper's generator, all kernels on the points. Times are CPU
seconds, medians of interleaved runs. Clarabel runs once, on the first set.
"""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pairs import cpu, standardised

from mercer.evidence.pairs import Pairs
from mercer.graphs.laplacians import laplacian
from mercer.learners.npkl_sdp import NPKL
from mercer.learners.pairwise import PairwiseKernel
from mercer.optim.budgeted_psd import solve_budgeted_psd
from mercer.optim.npkl_sdp import npkl_program, solve_npkl_sdp
from mercer.optim.pair_forms import EntryForms
from mercer.spectrum.graph import GraphBasis

N = 100
BUDGET = float(N)  # of the linear loss; its kernel only scales with it
EPS = (1e-5, 1e-6, 1e-7)  # of SCS; cvxpy's default is the first
AGREEMENT = 1e-6  # of the objectives, relative


@dataclass(frozen=True, eq=False)
class Task:
    """100 points of a set, their pairs and the Laplacian."""

    X: Any
    pairs: Pairs
    basis: GraphBasis
    L: Any
    forms: EntryForms

    @classmethod
    def of(cls, name: str) -> "Task":
        """Draw points and pairs."""
        X, y = standardised(name, N)
        pairs = Pairs.by_components(y, random_state=0).closure()
        basis = GraphBasis(n_components=None, n_neighbors=5, random_state=0).fit(X)
        L = laplacian(basis.graph_.adjacency).toarray()
        forms = EntryForms(pairs.first, pairs.second, pairs.signs, len(X))
        return cls(X, pairs, basis, L, forms)

    def closed_form(self) -> Any:
        """Minimise the linear loss, from pairs and Laplacian to a factored kernel."""
        A = self.forms.less(np.ones(self.forms.n_pairs), self.L)
        return solve_budgeted_psd(A, budget=BUDGET)

    def optimum(self, loss: str) -> float:
        """Return the objective; that of the hinge from SCS at its tightest."""
        if loss == "linear":
            return -self.closed_form().objective
        return self.sdp("hinge", "SCS", {"eps": 1e-8}).objective

    def sdp(self, loss: str, solver: str, options: dict[str, Any]) -> Any:
        """Solve NPKL's program, from pairs and Laplacian to a factored kernel."""
        return solve_npkl_sdp(
            self.forms, self.L, solver=solver, solver_options=options, **setting(loss)
        )

    def by_parts(self, loss: str, options: dict[str, Any]) -> tuple[float, float]:
        """Return the seconds of cvxpy and those of SCS alone."""

        def compiled() -> tuple[Any, ...]:
            problem, _ = npkl_program(self.forms, self.L, **setting(loss))
            return problem, *problem.get_problem_data("SCS")

        before, (problem, data, chain, _) = cpu(compiled)
        after, _ = cpu(
            lambda: chain.solve_via_data(problem, data, solver_opts=dict(options))
        )
        return before, after


def setting(loss: str) -> dict[str, Any]:
    budget = BUDGET if loss == "linear" else None
    return {"loss": loss, "C": 1.0, "budget": budget}


def agreeing_eps(task: Task, loss: str) -> tuple[float, dict[float, float]]:
    """Return the first eps at which SCS's objective is right, and all errors."""
    best, errors = task.optimum(loss), {}
    for eps in EPS:
        found = task.sdp(loss, "SCS", {"eps": eps})
        errors[eps] = abs(found.objective - best) / abs(best)
        if errors[eps] <= AGREEMENT:
            break
    return eps, errors


def compare(name: str, *, clarabel: bool, n_rounds: int = 5) -> None:
    task = Task.of(name)
    learner = PairwiseKernel("linear", 1.0, BUDGET)
    jobs: dict[str, Callable[[], object]] = {}
    parts: dict[str, tuple[str, dict[str, Any]]] = {}
    notes = {}
    for loss in ("hinge", "linear"):
        eps, errors = agreeing_eps(task, loss)
        for e in dict.fromkeys((EPS[0], eps)):
            title = f"NPKL {loss}, SCS eps {e:g}"
            jobs[title] = lambda o=loss, e=e: task.sdp(o, "SCS", {"eps": e})
            parts[title] = (loss, {"eps": e})
            notes[title] = f"objective off by {errors[e]:.0e}"
        slow = NPKL(loss, 1.0, setting(loss)["budget"])
        jobs[f"NPKL({loss!r}).fit"] = lambda m=slow: m.learn(
            task.basis, pairs=task.pairs
        )
    times: dict[str, list[float]] = {title: [] for title in jobs}
    alone: dict[str, list[tuple[float, float]]] = {title: [] for title in parts}
    ours, fits = [], []
    for _ in range(n_rounds):
        ours += [cpu(task.closed_form)[0] for _ in range(20)]
        fits += [
            cpu(lambda: learner.learn(task.basis, pairs=task.pairs))[0]
            for _ in range(5)
        ]
        for title, job in jobs.items():
            times[title].append(cpu(job)[0])
        for title, (loss, options) in parts.items():
            alone[title].append(task.by_parts(loss, options))
    unit = float(np.median(ours))
    print(f"\n{name}: {len(task.X)} points, {len(task.pairs)} pairs")
    line("closed form", unit, unit, f"K of rank {len(task.closed_form().values)}")
    line("PairwiseKernel('linear').fit", float(np.median(fits)), unit)
    for title, seconds in times.items():
        line(title, float(np.median(seconds)), unit, notes.get(title, ""))
        if title in alone:
            line("  of it SCS", float(np.median(alone[title], axis=0)[1]), unit)
    if clarabel:
        for loss in ("hinge", "linear"):
            seconds, _ = cpu(lambda o=loss: task.sdp(o, "CLARABEL", {}))
            line(f"NPKL {loss}, Clarabel", seconds, unit)


def line(title: str, seconds: float, unit: float, note: str = "") -> None:
    print(f"{title:34s}{1e3 * seconds:12.2f} ms{seconds / unit:10.0f}  {note}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["heart", "wine", "glass", "sonar"])
    names = parser.parse_args().names
    warnings.simplefilter("ignore")
    for name in names:
        compare(name, clarabel=name == names[0])
