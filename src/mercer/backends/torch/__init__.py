"""Neighbour search, eigenpairs and features on PyTorch tensors."""
