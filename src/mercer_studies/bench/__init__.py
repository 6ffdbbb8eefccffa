"""Mercer and its peers, measured in one run.

A run is a list of cells: a task, the data and their size, and a method. Each cell has a
process of its own, in the environment that holds its package. `data` and the modules
of the peers need NumPy, SciPy and scikit-learn alone.
"""
