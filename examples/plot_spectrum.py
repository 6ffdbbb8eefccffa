r"""
What a learner does to a spectrum
=================================

The parameter-free kernel of Mao and Tsang (2010) weights the smooth directions of a
neighbour graph by their agreement with the labels. On the left the weights, and dotted
the values of the graph Laplacian; on the right the learned kernel, rows sorted by
class.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from mercer import ParameterFreeKernel
from mercer.plotting import KernelMatrixDisplay, SpectrumDisplay

X, truth = load_digits(n_class=4, return_X_y=True)
X = X / 16
y = np.where(np.arange(len(X)) < 12, truth, -1)
learner = ParameterFreeKernel(random_state=0).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
SpectrumDisplay.from_estimator(learner, ax=left)
KernelMatrixDisplay.from_estimator(learner, X, truth, ax=right)

plt.show()
