"""Solvers on plain arrays; each result carries its certificate."""
