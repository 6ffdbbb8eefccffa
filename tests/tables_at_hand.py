"""Small tables for tests of reading, learning and the command line."""

import numpy as np
import pandas as pd


def two_groups(n: int = 40, n_labels: int = 10) -> pd.DataFrame:
    """Two groups that any method tells apart, a few rows labelled."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "code": [f"{k:03}" for k in range(n)],
            "size": (6.0 * truth + rng.standard_normal(n)).round(3),
            "weight": (4.0 * truth + rng.standard_normal(n)).round(3),
            "colour": np.where(truth == 1, "red", "blue"),
        }
    )
    names = np.where(truth == 1, "big", "small").astype(object)
    frame["label"] = [names[k] if k < n_labels else None for k in range(n)]
    return frame
