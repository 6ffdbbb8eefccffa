"""Figure 2 of Mao and Tsang (2010): two learned kernels beside the ideal one."""

from typing import Any

import numpy as np

from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.kernels.aligning import alignment
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.simple_mkl import SimpleMKL
from mercer_studies.mao2010_methods import (
    Problem,
    Setting,
    problem_of,
    split_of,
)
from mercer_studies.study import Results

MKL_C = 100.0
BLOCK = 16  # entries of a kernel, down and across, in one dot of the picture


def learned_kernels(problem: Problem, labeled: IntArray) -> dict[str, FloatArray]:
    """Return both kernels as cosines over all points, which stand class by class."""
    data = problem.data
    y = data.reveal(labeled)
    learner = ParameterFreeKernel(power=problem.power)
    order = np.argsort(data.y, kind="stable")
    kernels = {
        "SKL_KTA": learner.learn(
            problem.basis, Labels.read(y, min_classes=2)
        ).kernel_(),
        "SimpleMKL": SimpleMKL(C=MKL_C).fit(data.X, y).kernel_(data.X),
    }
    for name, K in kernels.items():
        norm = np.sqrt(K.diagonal())
        kernels[name] = (K / norm[:, None] / norm)[np.ix_(order, order)]
    return kernels


def compare_kernels(*, split: int, **line: Any) -> dict[str, float]:
    """Return alignments with the ideal kernel and mean cosines in and between classes.

    The ideal kernel is 1 within a class and 0 between classes.
    """
    setting = Setting(**line)
    problem = problem_of(setting.dataset, setting.n_neighbors, setting.power)
    labeled, _ = split_of(problem.data, setting, split)
    y = np.sort(problem.data.y)
    same = y[:, None] == y
    result = {}
    for name, K in learned_kernels(problem, labeled).items():
        result[f"{name}: alignment"] = alignment(K, same.astype(np.float64))
        result[f"{name}: within"] = float(K[same].mean())
        result[f"{name}: between"] = float(K[~same].mean())
    return result


def draw_figure2(figure: Any, results: Results, *, setting: Setting) -> None:
    """Draw both kernels of the first split, computed again."""
    problem = problem_of(setting.dataset, setting.n_neighbors, setting.power)
    labeled, _ = split_of(problem.data, setting, 0)
    ((first, *_),) = results.values()
    kernels = learned_kernels(problem, labeled)
    figure.set_size_inches(10, 5)
    for ax, (name, K) in zip(figure.subplots(1, 2), kernels.items(), strict=True):
        shown = _coarse(K)
        low, high = np.percentile(shown, [1, 99])
        ax.imshow(shown, vmin=low, vmax=high, interpolation="nearest")
        ax.set_title(f"{name}: {first[f'{name}: alignment']:.2f} aligned")
        ax.set_axis_off()


def _coarse(K: FloatArray) -> FloatArray:
    """Return means of blocks; rows that do not fill one are left out."""
    n = len(K) // BLOCK
    blocks = K[: n * BLOCK, : n * BLOCK].reshape(n, BLOCK, n, BLOCK)
    means: FloatArray = blocks.mean(axis=(1, 3))
    return means
