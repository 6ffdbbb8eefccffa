"""Kernels written point by point, straight from their formulas."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._base.typing import FloatArray

Point = Any


def gram(
    k: Callable[[Point, Point], float], X: FloatArray, Z: FloatArray
) -> FloatArray:
    return np.array([[k(x, z) for z in Z] for x in X])


def linear(x: Point, z: Point) -> float:
    return math.fsum(a * b for a, b in zip(x, z, strict=True))


def polynomial(x: Point, z: Point) -> float:
    return (0.5 * linear(x, z) + 2.0) ** 3


def squared_distance(x: Point, z: Point) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True))


def rbf(x: Point, z: Point) -> float:
    return math.exp(-0.3 * squared_distance(x, z))


def laplacian(x: Point, z: Point) -> float:
    return math.exp(-0.2 * math.fsum(abs(a - b) for a, b in zip(x, z, strict=True)))


def squared_product(x: Point, z: Point) -> float:
    return linear(x, z) ** 2


def centering(n: int) -> FloatArray:
    return np.eye(n) - np.ones((n, n)) / n
