"""The one model: a basis, a learner, a machine and a way to ask, as one estimator."""
