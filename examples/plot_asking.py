r"""
Useful questions and random ones
================================

A person labels wines, three at a time. One model chooses the wines itself
(``query="fill"``, the default), the other asks at random. Both start from the same
three labels. The curves are the accuracy on the wines that have no label yet, mean and
standard deviation over five starts.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from mercer import UnifiedKernelMachine
from mercer.plotting import LabelCurveDisplay

X, truth = load_wine(return_X_y=True)
X = scale(X)


def curve(query: str, seed: int) -> LabelCurveDisplay:
    """Accuracy after each of six rounds of questions."""
    rng = np.random.default_rng(seed)
    y = np.full(len(X), -1)
    for cultivar in range(3):
        y[rng.choice(np.flatnonzero(truth == cultivar))] = cultivar
    model = UnifiedKernelMachine(query=query, random_state=seed).fit(X, y)
    ax = plt.figure().subplots()
    found = LabelCurveDisplay.from_estimator(
        model, truth, n_rounds=6, batch_size=3, ax=ax
    )
    plt.close(ax.figure)
    return found


# %%
# Ask, answer, and measure.

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for query in ("fill", "random"):
    runs = [curve(query, seed) for seed in range(5)]
    accuracy = np.vstack([run.accuracy for run in runs])
    LabelCurveDisplay.from_predictions(runs[0].n_labels, accuracy, name=query, ax=ax)
    print(f"{query:>10}: {100 * accuracy.mean(axis=0)[-1]:.1f}% after 21 labels")

plt.show()
