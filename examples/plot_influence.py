r"""
Twelve views of one object, without a label
===========================================

One handwritten digit, turned by 15 degrees eleven times: twelve images that differ by
a rotation alone. A linear, a quadratic and a Gaussian kernel are combined by the
influence of the images, with weights of any sign (Abbasnejad, Ramachandram and Mandava
2010, Eq. 31). The picture follows their Figure 2: the kernels, the distances, and the
combination.

Two things are worth seeing. The combination is certified: the gap to a lower bound on
the objective and the smallest eigenvalue are printed. And the objective rewards kernels
that put points close together: here it finds a combination that is nearly constant
(mind the scale of its panel), says so, and shows the plain average beside it.
"""

import warnings

import numpy as np
from matplotlib import pyplot as plt
from scipy.ndimage import rotate
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

from mercer.kernels import RBF, Linear, Polynomial
from mercer.learners import InfluenceKernel

digit = np.kron(load_digits().images[4], np.ones((2, 2))) / 16
angles = np.arange(0, 180, 15)
X = np.array([rotate(digit, angle, reshape=False, order=1).ravel() for angle in angles])

kernels = {
    "linear": Linear(),
    "quadratic": Polynomial(degree=2, gamma=1.0),
    "Gaussian": RBF(gamma=1 / 20),
}
learner = InfluenceKernel(list(kernels.values()), combination="affine")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    learner.fit(X)
for warning in caught:
    print(f"{warning.category.__name__}: {warning.message}\n")

certificate = learner.certificate_
for name, weight, cost in zip(kernels, learner.weights_, learner.costs_, strict=True):
    print(f"{name:>16}: s = {cost:6.1f}, weight {weight:+.3f}")
print(f"objective {certificate.objective:.3f}, plain average ", end="")
print(f"{certificate.average_objective:.1f}, relative gap {certificate.gap:.0e},")
print(f"smallest eigenvalue {certificate.smallest_eigenvalue:.0e};", end=" ")
print(f"influence changes s by at most {certificate.influence_effect:.2%}")

# %%
# All kernels have ones on the diagonal; brighter is more similar, each on its own
# scale, as in the paper.

figure = plt.figure(figsize=(10, 6.6), layout="constrained")
panels = figure.subplots(2, 3)
matrices = {
    **{name: kernel(X) for name, kernel in zip(kernels, learner.kernels_, strict=True)},
    "Euclidean distance": pairwise_distances(X),
    "plain average": learner.average_kernel_(X),
    "affine combination": learner.kernel_(X),
}
ticks = np.arange(0, 12, 3)
for ax, (title, K) in zip(panels.ravel(), matrices.items(), strict=True):
    near_is_small = title == "Euclidean distance"
    shown = ax.imshow(K, cmap="viridis_r" if near_is_small else "viridis")
    ax.set_title(title)
    ax.set_xticks(ticks, [f"{angle}°" for angle in angles[ticks]])
    ax.set_yticks(ticks, [f"{angle}°" for angle in angles[ticks]])
    figure.colorbar(shown, ax=ax, shrink=0.8)

plt.show()
