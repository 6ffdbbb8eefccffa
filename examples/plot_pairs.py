r"""
Forty answers of "same" or "different"
======================================

Nobody names a class here. A person is shown two points at a time and says whether they
belong together; `next_pairs` chooses which two. From forty answers and the geometry of
all points a kernel is learned, its clusters are compared with those of k-means, and new
points, which were in no pair, join the clusters.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from mercer import Pairs, PairwiseKernel
from mercer.active import next_pairs
from mercer.kernels import RBF
from mercer.spectrum import GramBasis

X, truth = make_moons(600, noise=0.14, random_state=0)
X, X_new = X[:300], X[300:]
truth, truth_new = truth[:300], truth[300:]

# %%
# Ask ten times for four pairs. The answers here come from the hidden classes.

rng = np.random.default_rng(0)
kernel = PairwiseKernel(random_state=0)
features = GramBasis(20, kernel=RBF(gamma=5.0)).fit_transform(X)
pairs = Pairs.from_index(n_points=len(X))
for _ in range(10):
    asked = next_pairs(features, pairs, 4, rng=rng)
    same = truth[asked[:, 0]] == truth[asked[:, 1]]
    pairs = pairs + Pairs.from_index(asked[same], asked[~same], n_points=len(X))
    features = kernel.fit_transform(X, pairs=pairs)
print(f"{len(pairs)} answers, {len(pairs.must_link)} of them 'same'")
print(f"relative duality gap {kernel.certificate_.relative_gap:.0e}")
print(f"over {kernel.certificate_.family}")

# %%
# Clusters of the learned kernel, and of new points by the same pipeline.

model = make_pipeline(kernel, Normalizer(), KMeans(2, n_init=10, random_state=0))
found = model.fit_predict(X, pairwisekernel__pairs=pairs.closure())
plain = KMeans(2, n_init=10, random_state=0).fit_predict(X)
print(f"k-means         ARI {adjusted_rand_score(truth, plain):.2f}")
print(f"learned kernel  ARI {adjusted_rand_score(truth, found):.2f}")
score = adjusted_rand_score(truth_new, model.predict(X_new))
print(f"on new points   ARI {score:.2f}")

figure = plt.figure(figsize=(10, 4), layout="constrained")
panels = figure.subplots(1, 2, sharex=True, sharey=True)
for ax, labels, title in (
    (panels[0], plain, "k-means"),
    (panels[1], found, f"k-means on a kernel from {len(pairs)} pairs"),
):
    ax.scatter(*X.T, c=labels, cmap="Set2", s=14)
    ax.set_title(title)
    ax.set_xticks([])
    ax.set_yticks([])
for ends, style, label in (
    (pairs.must_link, {"color": "black"}, "same"),
    (pairs.cannot_link, {"color": "tab:red", "linestyle": ":"}, "different"),
):
    lines = panels[1].plot(*X[ends].transpose(2, 1, 0), linewidth=1, **style)
    lines[0].set_label(label)
panels[1].legend(loc="lower left")

plt.show()
