"""Where tests find the data sets."""

import os

import pytest

needs_data = pytest.mark.skipif(
    not os.environ.get("MERCER_DATA"),
    reason="the data sets are not here: set MERCER_DATA to their folder",
)
