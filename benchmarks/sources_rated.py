"""Sources that are people and lists of words: the sentences of `collection/rated.py`.

Words of a sentence are TF-IDF. Two lists of words vote on two thirds or more of the
sentences; three people on a share of them, drawn anew, as they are nearly always right.
0, 5 and 20 true labels. Methods as in `sources.py`.

    python benchmarks/sources_rated.py CACHE [--asked 0.1] [--draws 3] [--rivals]
"""

import argparse
import importlib.util
import pathlib
import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE / "collection"), str(HERE)]
from rated import KINDS, rated  # noqa: E402

# The collection has a module of the same name.
spec = importlib.util.spec_from_file_location("methods", HERE / "sources.py")
methods = importlib.util.module_from_spec(spec)
spec.loader.exec_module(methods)

RIVALS = ("majority", "Dawid-Skene", "snorkel", "cleanlab")


def accuracies(args: argparse.Namespace) -> pd.DataFrame:
    """Return the share of the other sentences that each method has right."""
    rows = []
    for kind in KINDS:
        some = rated(args.cache, kind, rows=args.rows)
        X = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(some.texts)
        y, mercer = some.truth, methods.Mercer(X, some.truth)
        people = np.array([name.startswith("person") for name in some.sources])
        for draw in range(args.draws):
            unasked = np.random.default_rng([draw, 9]).random(len(y)) > args.asked
            votes = np.where(unasked[:, None] & people, -1, some.votes)
            votes = votes[:, (votes >= 0).any(axis=0)]
            labels = {r: methods.consensus(r, votes, 2, X) for r in args.rivals}
            for size in (0, 5, 20):
                rng = np.random.default_rng([draw, size, 7])
                known = rng.permutation(len(y))[:size]
                given = np.full(len(y), -1)
                given[known] = y[known]
                found, model = mercer.told(given, votes)
                held, n, _ = methods.covered(model, votes, y)
                all_found = {
                    "Mercer": found,
                    "without sources": mercer.plain(given),
                    "sources alone": methods.alone(votes, given, 2),
                }
                for rival, guessed in labels.items():
                    taught = np.where(given >= 0, given, guessed)
                    all_found[f"{rival}, logistic"] = methods.logistic(X, taught)
                    all_found[f"{rival}, Mercer"] = mercer.plain(taught)
                rest = np.setdiff1d(np.arange(len(y)), known)
                for method, p in all_found.items():
                    right = 100 * np.mean(p[rest] == y[rest])
                    rows.append((kind, draw, size, method, right, held, n))
    heads = ["kind", "draw", "labels", "method", "accuracy", "held", "sources"]
    return pd.DataFrame(rows, columns=heads)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--asked", type=float, default=0.1)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--rivals", nargs="*", default=RIVALS, choices=RIVALS)
    warnings.simplefilter("ignore")
    found = accuracies(parser.parse_args())
    shown = found.pivot_table(index="method", columns=["labels"], values="accuracy")
    print(shown.round(1).to_string())
    shown = found.pivot_table(index="method", columns=["kind"], values="accuracy")
    print(shown.round(1).to_string())
    ours = found[found["method"] == "Mercer"]
    print(f"intervals that hold: {ours['held'].sum()} of {ours['sources'].sum()}")
