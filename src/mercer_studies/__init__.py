"""The papers' experiments: each a list of jobs and the figures they printed.

An application of Mercer. It is part of the source tree and of no wheel.
"""
