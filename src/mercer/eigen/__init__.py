"""Smallest eigenpairs of large sparse matrices, with evidence that none is missing."""
