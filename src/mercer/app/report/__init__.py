"""One page that a person can act on, from numbers that are given."""
