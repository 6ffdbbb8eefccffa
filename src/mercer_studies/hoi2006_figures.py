"""Figures 2 to 5 of Hoi, Lyu and Chang (2006): decay factors and dimensions."""

from typing import Any

import numpy as np

from mercer._base.typing import FloatArray
from mercer.learners.decaying import DecayingKernel
from mercer_studies.hoi2006_methods import (
    Problem,
    accuracy,
    decaying_gram,
    fit_klr,
    problem_of,
)
from mercer_studies.study import Results

SIZE = 20
DECAYS = (1.0, 2.0, 3.0)
N_COEFFICIENTS = 20
DIMENSIONS = (2, 5, 10, 15, 20, 25, 30)


def run_coefficients(*, dataset: str, kernel: str, split: int) -> dict[str, float]:
    """Return "row|column" for the spectra of one trial."""
    return coefficients(problem_of(dataset), kernel, split)


def coefficients(problem: Problem, kernel: str, trial: int) -> dict[str, float]:
    """Return cumulative energy and the weights, the first of them 1, by direction."""
    basis = problem.bases[kernel]
    y = problem.reveal(problem.draw(SIZE, trial))
    spectra = {"original": basis.values_}
    for decay in DECAYS:
        learner = DecayingKernel(decay, N_COEFFICIENTS, basis=basis)
        spectra[f"C={decay:g}"] = learner.fit(problem.grams[kernel], y).weights_
    energy = 100 * np.cumsum(basis.values_) / basis.values_.sum()
    result = {}
    for i in range(min(N_COEFFICIENTS, len(energy))):
        result[f"{i + 1}|energy (%)"] = float(energy[i])
        for name, weights in spectra.items():
            result[f"{i + 1}|{name}"] = float(weights[i] / weights[0])
    return result


def run_dimensions(*, dataset: str, kernel: str, split: int) -> dict[str, float]:
    """Return "row|column" for the accuracies of one trial."""
    return dimensions(problem_of(dataset), kernel, split, DIMENSIONS)


def dimensions(
    problem: Problem, kernel: str, trial: int, counts: tuple[int, ...]
) -> dict[str, float]:
    """Return accuracies of kernels with the first d directions."""
    y = problem.reveal(problem.draw(SIZE, trial))
    basis = problem.bases[kernel]

    def score(K: FloatArray) -> float:
        return accuracy(fit_klr(K, y, intercept=True), problem, y)

    original = score(problem.grams[kernel])
    result = {}
    for d in (d for d in counts if d <= len(basis.values_)):
        U, values = basis.vectors_[:, :d], basis.values_[:d]
        result[f"{d}|original"] = original
        result[f"{d}|K_Trunc"] = score(_unit((U * values) @ U.T))
        result[f"{d}|K_Cluster"] = score(_unit(U @ U.T))
        for decay in DECAYS:
            K = decaying_gram(problem, kernel, y, decay=decay, n_components=d)
            result[f"{d}|SKL C={decay:g}"] = score(K)
    return result


def _unit(K: FloatArray) -> FloatArray:
    scaled: FloatArray = K / K.diagonal().mean()
    return scaled


def draw_lines(figure: Any, results: Results) -> None:
    """Draw every column over the rows, energy on an axis of its own."""
    figure.set_size_inches(8, 4.5)
    rows = [int(row) for row in results]
    columns = list(next(iter(results.values()))[0])
    ax = figure.subplots()
    for column in columns:
        means = [np.mean([run[column] for run in runs]) for runs in results.values()]
        if column.startswith("energy"):
            twin = ax.twinx()
            twin.plot(rows, means, "k:")
            twin.set_ylabel(f"{column}, dotted")
        else:
            ax.plot(rows, means, "o-", ms=3, label=column)
    ax.locator_params(axis="x", integer=True)
    has_energy = any(c.startswith("energy") for c in columns)
    ax.set_ylabel("weight, first is 1" if has_energy else "accuracy (%)")
    ax.set_xlabel("direction" if has_energy else "dimension d")
    ax.legend(fontsize=8, loc="center right" if has_energy else "best")
