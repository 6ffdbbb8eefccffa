r"""
Can you trust the probabilities?
================================

A model learns from 60 labelled digits. For the other images its probability for the
class it chose is compared with the share of such choices that are correct. Points on
the dotted line are calibrated; the bars are 95% intervals of the share.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from mercer import UnifiedKernelMachine
from mercer.plotting import ReliabilityDisplay

X, truth = load_digits(return_X_y=True)
X, truth = X[:800] / 16, truth[:800]
rng = np.random.default_rng(0)
y = np.full(len(X), -1)
labeled = rng.choice(len(X), 60, replace=False)
y[labeled] = truth[labeled]

model = UnifiedKernelMachine(random_state=0).fit(X, y)
hidden = y == -1
display = ReliabilityDisplay.from_estimator(model, X[hidden], truth[hidden])
right = np.mean(model.transduction_[hidden] == truth[hidden])
print(f"{right:.1%} of the unlabelled images right")
print(f"mean probability {model.predict_proba(X[hidden]).max(axis=1).mean():.1%}")

plt.show()
