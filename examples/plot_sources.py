r"""
Ten labels, a language model and a colleague
============================================

Ten rows are surely labelled. A language model has guessed all rows, three of four
rightly, a colleague knows a third of them, and someone answers mostly the wrong way
round. Their reliabilities are estimated together with the classes of all rows.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from mercer import UnifiedKernelMachine

X, truth = make_moons(400, noise=0.2, random_state=0)
rng = np.random.default_rng(0)


def votes_of(right: float, share: float) -> np.ndarray:
    """Return votes that are right with a probability, -1 where there is none."""
    said = np.where(rng.random(400) < right, truth, 1 - truth)
    return np.where(rng.random(400) < share, said, -1)


sources = {
    "language model": votes_of(0.75, 1.0),
    "colleague": votes_of(0.9, 0.3),
    "rule": np.where(X[:, 1] > 0.9, 0, -1),
    "wrong way round": votes_of(0.25, 0.8),
}
y = np.where(np.arange(400) < 10, truth, -1)

# %%
# Labels alone, sources alone, and both.

labels_only = UnifiedKernelMachine(random_state=0).fit(X, y)
sources_only = UnifiedKernelMachine(random_state=0).fit(X, None, sources=sources)
both = UnifiedKernelMachine(random_state=0).fit(X, y, sources=sources)
for name, model in (
    ("ten labels", labels_only),
    ("sources", sources_only),
    ("both", both),
):
    print(f"{name:12} {np.mean(model.transduction_ == truth):.1%}")

# %%
# The stated accuracy of each source, and the true one.

report = both.source_report()
for text in report.warnings:
    print(text)

figure, ax = plt.subplots(figsize=(7, 2.5), layout="constrained")
for place, source in enumerate(report.sources):
    said = sources[source.name]
    right = np.mean((said == truth)[said >= 0])
    ax.plot([source.low, source.high], [place, place], color="tab:blue", linewidth=4)
    ax.plot(right, place, "k|", markersize=16)
ax.axvline(0.5, color="0.7", linewidth=1)
ax.set_yticks(range(len(report.sources)), [s.name for s in report.sources])
ax.invert_yaxis()
ax.set_xlim(0, 1)
ax.set_xlabel("share of votes that are right: stated interval, and the truth (black)")

plt.show()
