r"""
A whole session: from a table without labels to a model
=======================================================

A table of 569 tumours, none of them labelled. The session asks for rows, a person
labels them (here the known truth answers), and after each round the model says how many
of its predictions it expects to be right. The true share is drawn beside it; in real
life nobody knows it.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

import mercer

data = load_breast_cancer(as_frame=True)
truth = np.where(data.target == 0, "malignant", "benign")
session = mercer.Session.open(data.data, target="finding", random_state=0).fit()

# %%
# Eight rounds of six questions. The first rows stand for many others; once two classes
# have labels, the model asks where a label is expected to remove most errors.

rounds = []
for _ in range(8):
    rows = session.ask(6)
    session = session.tell(rows, truth[rows])
    labels = session.labels
    if labels.counts().min(initial=99) < 2:
        continue
    hidden = labels.codes < 0
    score = session.check().scores[0]
    right = np.mean(session.predictions[hidden] == truth[hidden])
    rounds.append((len(labels.labeled), score.accuracy, score.low, score.high, right))
    print(
        f"{rounds[-1][0]:3} labels: expected {score.low:.0%} to {score.high:.0%}, "
        f"in fact {right:.1%}"
    )

# %%
# The interval is wide: a few dozen labels, asked for where rows are hard, cannot show
# more than that.

n, expected, low, high, right = np.array(rounds).T
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.fill_between(n, low, high, alpha=0.2, label="95% interval")
ax.plot(n, expected, "o-", label="expected")
ax.plot(n, right, "k--", label="in fact")
ax.set(xlabel="labels", ylabel="share of the other rows predicted right")
ax.set_ylim(0.4, 1.02)
ax.legend(loc="lower right")
plt.show()
