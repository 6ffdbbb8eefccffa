"""Exact and approximate search of nearest neighbours: arrays in, neighbours out."""
