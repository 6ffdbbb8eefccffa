r"""
From twenty labels to a decision
================================

A table of 569 tumours, twenty of them examined. Who should be called back if a missed
malignant tumour costs ten times as much as a needless examination? `mercer.learn` gives
a probability for each patient; calling back from 1 in 11 on is right if these
probabilities are calibrated. Then the model asks for twenty more examinations, and the
curves show what they save.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

import mercer

data = load_breast_cancer(as_frame=True)
truth = np.where(data.target == 0, "malignant", "benign")
frame = data.data.round(4)
frame.insert(0, "patient", [f"P{row:03}" for row in range(len(frame))])
examined = np.random.default_rng(0).choice(len(frame), 20, replace=False)
frame["finding"] = None
frame.loc[examined, "finding"] = truth[examined]

# %%
# Learn from twenty labels. A notebook shows what to expect of the predictions;
# ``result.save("out")`` writes the whole report.

result = mercer.learn(frame, target="finding", id="patient")
result

# %%
# Then learn from twenty more labels, which the model asks for.

session = result.session
malignant = list(session.model.classes_).index("malignant")
probabilities = {20: session.proba[:, malignant].copy()}
rows = session.ask(20)
probabilities[40] = session.tell(rows, truth[rows]).proba[:, malignant]
unknown = frame["finding"].isna().to_numpy().copy()
unknown[rows] = False

# %%
# The cost of every threshold, on the patients that nobody has examined.

sick = truth[unknown] == "malignant"
thresholds = np.linspace(0.01, 0.99, 99)
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for n_labels, every in probabilities.items():
    p = every[unknown]
    called = p > thresholds[:, None]
    costs = 10 * (~called & sick).sum(axis=1) + (called & ~sick).sum(axis=1)
    ax.plot(thresholds, costs, label=f"{n_labels} labels")
    for threshold in (1 / 2, 1 / 11):
        back = p > threshold
        print(
            f"| above {threshold:.2f} | {n_labels} | {back.sum()} | "
            f"{(~back & sick).sum()} | {(back & ~sick).sum()} |"
        )
ax.axvline(1 / 11, color="grey", linestyle=":", label="1 in 11")
ax.set(xlabel="call back above this probability", ylabel="cost")
ax.legend()
plt.show()

# %%
# Twenty answers to good questions lower the cost at every threshold, and the cheapest
# thresholds are near 1 in 11, as they should be with calibrated probabilities.
