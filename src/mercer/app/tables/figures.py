"""The figures in the certificates of a model, each with what it means."""

from dataclasses import fields, is_dataclass
from typing import Any

from mercer.app.report.story import Fact
from mercer.model.estimator import UnifiedKernelMachine

MEANINGS = {
    "method": "how the directions were computed",
    "reason": "why this way",
    "residual": "error of the equations that were solved; 0 is exact",
    "orthogonality": "error of the right angles between directions; 0 is exact",
    "gap": "distance to the first direction left out",
    "cuts_repeated_value": "whether equal directions were separated at the cut",
    "n_null": "connected parts of the data",
    "recall": "share of true neighbours found, by sample",
    "lost_trace": "share of the kernel outside the directions",
    "floor": "every direction left out has at least this value",
    "failure": "probability that the floor is wrong",
    "note": "what could not be computed as requested",
    "alignment": "agreement of the kernel with the labels; 1 is perfect",
    "n_eigenspaces": "directions with a weight of their own",
    "n_iter": "steps taken",
    "objective": "value at the optimum",
    "relative_gap": "distance to the best kernel possible; 0 is exact",
    "agreement": "share of pairs that the kernel agrees with",
    "n_held_out": "labels held out to weight the kernels",
    "n_errors": "held-out labels that were missed",
    "unexplained": "share of the classes that the kernel does not reproduce",
    "mu": "a constant of the closed form; no prediction depends on it",
    "mu_is_maximizer": "whether mu is the better of the two roots",
    "C": "the C that mu belongs to",
    "bound": "no kernel has a lower objective",
    "family": "kernels that competed",
    "n_eigh": "eigen-decompositions",
    "largest_margin": "largest margin of a pair; at 1 and above its loss is 0",
    "n_pairs": "pairs used, those between labels included",
}


def figures_of(model: UnifiedKernelMachine) -> tuple[Fact, ...]:
    """Return what directions, kernel and classifier of a fitted model certify."""
    parts = (
        ("directions", model.basis_),
        ("kernel", model.learner_),
        ("classifier", model.machine_),
    )
    return tuple(
        Fact(
            f"{what} ({type(part).__name__})",
            name.replace("_", " "),
            _in_words(value),
            MEANINGS.get(name, ""),
        )
        for what, part in parts
        for name, value in _figures(part.certificate_)
    )


def _figures(certificate: Any) -> list[tuple[str, Any]]:
    if not is_dataclass(certificate):
        return []
    pairs = ((f.name, getattr(certificate, f.name)) for f in fields(certificate))
    return [
        (name, v)
        for name, v in pairs
        if isinstance(v, str | bool | int | float) and v != ""
    ]


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
