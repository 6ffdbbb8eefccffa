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


def uneven(n: int = 120, per_class: int = 6) -> tuple[pd.DataFrame, np.ndarray]:
    """One row in ten says yes, the classes overlap, and both have as many labels."""
    rng = np.random.default_rng(0)
    is_yes = np.arange(n) % 10 == 0
    frame = pd.DataFrame(
        {
            "code": [f"r{k:03}" for k in range(n)],
            "size": (2.2 * is_yes + rng.standard_normal(n)).round(3),
            "weight": (1.5 * is_yes + rng.standard_normal(n)).round(3),
        }
    )
    truth = np.where(is_yes, "yes", "no").astype(object)
    rows = [np.flatnonzero(is_yes == yes)[:per_class] for yes in (False, True)]
    frame["label"] = None
    frame.loc[np.concatenate(rows), "label"] = truth[np.concatenate(rows)]
    return frame, truth
