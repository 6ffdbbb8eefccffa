"""The papers' experiments: each a list of jobs and the figures they printed."""
