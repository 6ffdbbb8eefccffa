"""Pools: several bases of the same points side by side, weighed by evidence."""
