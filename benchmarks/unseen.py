"""Few labels on data that no choice was made on: the default and eleven peers.

The collection of `benchmarks/collection` in its two halves; 1, 2, 5 and 10 labels per
class, and 20, 50 and 100 labels drawn at random. Measured on the unlabelled rows of
classes that have a label: accuracy, balanced accuracy, log-loss (probabilities of at
least 1e-4), mean confidence minus accuracy. Standard errors are over data sets.

    python benchmarks/unseen.py run CACHE RESULTS.csv --half choose [--columns raw]
    python benchmarks/unseen.py table RESULTS.csv --half choose

`--collection second` takes the sets of `collection/second.py`, `third` and `fourth`
those of `collection/third.py` and `fourth.py`, all of which are for judging. Rows are
appended one at a time, and what is there is not run again. `scaled` tables have unit
variances, `raw` ones the units they come in; series, images, gene expression and texts
are the same in both. With `given` the default gets all columns as they are, and its
peers unit variances but for images and texts. Peers with their defaults; the graph
methods of graphlearning as in `few_labels.py`. Gradient boosting is left out above ten
classes.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import csv
import pathlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import softmax
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import (
    LabelPropagation,
    LabelSpreading,
    SelfTrainingClassifier,
)
from sklearn.svm import SVC

sys.path.insert(0, str(pathlib.Path(__file__).parent / "collection"))
from members import load

HERE = pathlib.Path(__file__).parent
COLLECTIONS = ("first", "second", "third", "fourth")
COLUMNS = ("scaled", "raw", "given")
UNSCALED = ("image", "text")  # peers get them as they are, whatever `--columns` says
CELLS = ("1/c", "2/c", "5/c", "10/c", "20", "50", "100")
LABELED_ONLY = ("logistic", "forest", "average", "boosting", "knn", "svc")
GRAPHS = ("laplace", "poisson", "poisson mbo")
PEERS = (*LABELED_ONLY, "spreading", "propagation", "self-training", *GRAPHS)
BLIND = ("forest", "boosting")  # to units: not run again on raw columns
NO_SIZES = "without sizes"  # the default without the step that sets class sizes
TOLD = "told"  # the default that is given the class sizes
FLOOR = 1e-4
Predict = Callable[[Any, np.ndarray], np.ndarray]  # X, y with -1 -> (n, C)


def problem(
    cache: pathlib.Path, name: str, *, scale: bool, rows: int
) -> tuple[Any, np.ndarray]:
    """Return at most so many rows of one member, columns that vary."""
    X, y = load(cache, name)
    kept = np.sort(np.random.default_rng(7).permutation(len(y))[:rows])
    X, y = X[kept], y[kept]
    common = np.bincount(y)[y] > 1
    X, y = X[np.flatnonzero(common)], np.unique(y[common], return_inverse=True)[1]
    if sparse.issparse(X):
        return X[:, np.flatnonzero(np.diff(X.tocsc().indptr) > 1)], y
    X = X[:, X.std(axis=0) > 0]
    return (StandardScaler().fit_transform(X) if scale else X), y


def draw(y: np.ndarray, cell: str, number: int) -> np.ndarray | None:
    """Return the labelled rows, or None where they would be half of all."""
    rng = np.random.default_rng([number, CELLS.index(cell), 2026])
    if cell.endswith("/c"):
        count = int(cell[:-2])
        groups = [np.flatnonzero(y == c) for c in range(y.max() + 1)]
        chosen = [rng.choice(g, min(count, len(g) - 1), replace=False) for g in groups]
        rows = np.concatenate(chosen)
    else:
        rows = rng.permutation(len(y))[: int(cell)]
    enough = len(rows) <= len(y) / 2 and len(np.unique(y[rows])) > 1
    return rows if enough else None


def labeled_only(make: Callable[[int], Any]) -> Predict:
    """Return a method that is trained on the labelled rows alone."""

    def predict(X: Any, y: np.ndarray) -> np.ndarray:
        known = np.flatnonzero(y >= 0)
        return make(len(known)).fit(X[known], y[known]).predict_proba(X)

    return predict


def with_all(make: Callable[[], Any]) -> Predict:
    """Return a method of scikit-learn that is trained on all rows."""

    def predict(X: Any, y: np.ndarray) -> np.ndarray:
        dense = X.toarray() if sparse.issparse(X) else X
        return np.nan_to_num(make().fit(dense, y).predict_proba(dense))

    return predict


def average(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the mean of logistic regression and a forest."""
    known = np.flatnonzero(y >= 0)
    both = (
        LogisticRegression(max_iter=1000),
        RandomForestClassifier(100, random_state=0),
    )
    parts = [m.fit(X[known], y[known]).predict_proba(X) for m in both]
    return np.mean(parts, axis=0)


def svc(X: Any, y: np.ndarray) -> np.ndarray:
    """Return softmax of the decision: too few labels to fit probabilities."""
    known = np.flatnonzero(y >= 0)
    scores = SVC(decision_function_shape="ovr").fit(X[known], y[known])
    z = scores.decision_function(X)
    return softmax(np.column_stack([-z, z]) if z.ndim == 1 else z, axis=1)


def graph_method(kind: str) -> Predict:
    """Return a method of graphlearning; its scores are no probabilities."""
    sys.path.insert(0, str(HERE))
    from few_labels import import_graphlearning

    gl = import_graphlearning()

    def predict(X: Any, y: np.ndarray) -> np.ndarray:
        D = pairwise_distances(X)
        near = np.argsort(D, axis=1, kind="stable")[:, :10]
        pair = (near, np.take_along_axis(D, near, axis=1))
        graph = gl.graph(gl.weightmatrix.knn(None, 10, knn_data=pair))
        known = np.flatnonzero(y >= 0)
        shares = np.bincount(y[known]) / len(known)
        model = {
            "laplace": lambda: gl.ssl.laplace(graph),
            "poisson": lambda: gl.ssl.poisson(graph),
            "poisson mbo": lambda: gl.ssl.poisson_mbo(graph, shares),
        }[kind]()
        found = model.fit_predict(known, y[known]).astype(int)
        return np.eye(y.max() + 1)[found]

    return predict


def peers(names: Sequence[str] = PEERS) -> dict[str, Predict]:
    """Return peers by their names."""
    found: dict[str, Predict] = {
        "logistic": labeled_only(lambda _: LogisticRegression(max_iter=1000)),
        "forest": labeled_only(lambda _: RandomForestClassifier(100, random_state=0)),
        "average": average,
        "boosting": labeled_only(
            lambda _: GradientBoostingClassifier(n_estimators=50, random_state=0)
        ),
        "knn": labeled_only(lambda most: KNeighborsClassifier(min(5, most))),
        "svc": svc,
        "spreading": with_all(lambda: LabelSpreading("knn")),
        "propagation": with_all(lambda: LabelPropagation("knn")),
        "self-training": with_all(
            lambda: SelfTrainingClassifier(LogisticRegression(max_iter=1000))
        ),
    }
    found |= {kind: graph_method(kind) for kind in GRAPHS if kind in names}
    return {name: found[name] for name in names}


class Ours:
    """The default; cells of one data set share the pool, which sees no label."""

    def __init__(self, class_sizes: Any = "estimate") -> None:
        self.class_sizes = class_sizes  # or `TOLD`: those of `sizes`
        self.sizes: Any = None
        self.points: Any = None
        self.model: Any = None

    def __call__(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Return the probabilities of all rows."""
        from mercer import UnifiedKernelMachine
        from mercer.fewlabels import LeaveOneOutRLS

        known = self.sizes if self.class_sizes == TOLD else self.class_sizes
        machine = LeaveOneOutRLS(class_sizes=known)
        if X is self.points:
            self.model = self.model.with_labels(y, machine=machine)
        else:
            self.points = X
            self.model = UnifiedKernelMachine(machine=machine, random_state=0).fit(X, y)
        return np.asarray(self.model.training_proba())


def named(p: np.ndarray, seen: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Return probabilities of classes, (n, C), from those of their names.

    A tie goes to the first name, as where a method predicts: the numbers of the classes
    say which one is the largest, and names are drawn at random.
    """
    p = p.copy()
    first = p.argmax(axis=1)
    rows = np.arange(len(p))
    p[rows, first] = np.nextafter(p[rows, first], 2.0)
    full = np.zeros((len(p), seen.max() + 1))
    full[:, seen] = p[:, names]
    return full


def measure(p: np.ndarray, y: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """Return how good probabilities are on unlabelled rows of classes with a label."""
    seen = np.unique(y[known])
    asked = np.setdiff1d(np.flatnonzero(np.isin(y, seen)), known)
    right = p[asked].argmax(axis=1) == y[asked]
    q = np.maximum(p[asked], FLOOR)
    q /= q.sum(axis=1, keepdims=True)
    by_class = [right[y[asked] == c].mean() for c in seen if (y[asked] == c).any()]
    return {
        "accuracy": 100 * float(right.mean()),
        "balanced": 100 * float(np.mean(by_class)),
        "log_loss": float(-np.log(q[np.arange(len(asked)), y[asked]]).mean()),
        "overconfidence": 100 * float(q.max(axis=1).mean() - right.mean()),
    }


KEYS = ["name", "columns", "cell", "draw", "method"]
FIGURES = ["accuracy", "balanced", "log_loss", "overconfidence", "seconds"]


def registry_of(args: argparse.Namespace) -> pd.DataFrame:
    """Return what is known of the sets of a collection."""
    name = "registry" if args.collection == "first" else args.collection
    return pd.read_csv(HERE / "collection" / f"{name}.csv")


def tasks(args: argparse.Namespace) -> Iterator[tuple[int, str, str]]:
    """Yield what to run: all sets with one draw, then with the next."""
    registry = registry_of(args)
    chosen = registry[registry["half"] == args.half]
    if args.names:
        chosen = chosen[chosen["name"].isin(args.names)]
    for number in range(args.draws):
        for name, kind in zip(chosen["name"], chosen["kind"], strict=True):
            if args.columns != "raw" or kind == "table":
                yield number, name, kind


def run(args: argparse.Namespace) -> None:
    """Run what is missing."""
    warnings.simplefilter("ignore")
    if args.ours == "only":
        methods: dict[str, Predict] = {args.tag: Ours(), NO_SIZES: Ours(None)}
    else:
        methods = peers(args.peers)
        if args.ours:
            methods = {args.tag: Ours(), TOLD: Ours(TOLD), **methods}
    if args.columns == "raw":
        methods = {m: f for m, f in methods.items() if m not in BLIND}
    done = set()
    if args.results.exists():
        done = set(pd.read_csv(args.results)[KEYS].itertuples(index=False, name=None))
    with args.results.open("a", newline="") as file:
        writer = csv.writer(file)
        if not args.results.stat().st_size:
            writer.writerow([*KEYS, *FIGURES])
        for number, name, kind in tasks(args):
            scale = args.columns == "scaled" and kind == "table"
            X, y = problem(args.cache, name, scale=scale, rows=args.rows)
            theirs = X
            if args.columns == "given" and kind not in UNSCALED:
                theirs = StandardScaler().fit_transform(X)
            for cell in CELLS:
                known = draw(y, cell, number)
                if known is None:
                    continue
                seen = np.unique(y[known])
                names = np.random.default_rng([number, 23]).permutation(len(seen))
                given = np.full(len(y), -1)
                given[known] = names[np.searchsorted(seen, y[known])]
                sizes = np.bincount(y)[seen][np.argsort(names)]
                for method, predict in methods.items():
                    key = (name, args.columns, cell, number, method)
                    many = method == "boosting" and len(seen) > 10
                    if key in done or many:
                        continue
                    if isinstance(predict, Ours):
                        predict.sizes = sizes
                    start = time.process_time()
                    p = predict(X if isinstance(predict, Ours) else theirs, given)
                    seconds = time.process_time() - start
                    figures = {
                        **measure(named(p, seen, names), y, known),
                        "seconds": seconds,
                    }
                    writer.writerow([*key, *(f"{figures[f]:.4f}" for f in FIGURES)])
                    file.flush()


def by_set(frame: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Return the mean of one figure: a row per set and cell, a column per method."""
    return frame.pivot_table(index=["name", "cell"], columns="method", values=figure)


def spread(values: pd.Series) -> str:
    """Return mean and standard error over sets."""
    means = values.groupby(level="name").mean()
    return f"{means.mean():+.2f} ± {means.std(ddof=1) / np.sqrt(len(means)):.2f}"


def regret_elsewhere(
    frame: pd.DataFrame, tag: str, rivals: list[str], figure: str = "accuracy"
) -> pd.Series:
    """Return how far a method is behind the peer that was best on the other draws.

    The best peer of a cell in hindsight is the best of many noisy means, so it looks
    better than it is. The peer that is best on the other draws is as good as it looks
    on the draw at hand.
    """
    draws = frame.pivot_table(
        index=["name", "cell", "draw"], columns="method", values=figure
    ).dropna(subset=[tag])
    cells = draws.groupby(level=["name", "cell"])
    count = cells[tag].transform("size")
    others = cells[rivals].transform("sum") - draws[rivals]
    best = others[count > 1].idxmax(axis=1)
    draws = draws[count > 1]
    chosen = draws.to_numpy()[np.arange(len(draws)), draws.columns.get_indexer(best)]
    return (chosen - draws[tag]).groupby(level=["name", "cell"]).mean()


def table(args: argparse.Namespace) -> None:
    """Print what the default is worth against its peers."""
    registry = registry_of(args).set_index("name")
    frame = pd.read_csv(args.results).drop_duplicates(KEYS, keep="last")
    frame = frame[frame["name"].map(registry["half"]) == args.half]
    raw = frame[frame["columns"] == "raw"]
    wanted = "given" if args.columns == "given" else "scaled"
    frame = frame[frame["columns"] == wanted]
    if args.columns == "raw":
        blind = frame[frame["method"].isin(BLIND)]
        tables = frame[frame["name"].isin(raw["name"])]
        blind = tables[tables["method"].isin(BLIND)]
        frame = pd.concat([raw, blind])
    accuracy = by_set(frame, "accuracy").dropna(subset=[args.tag])
    rivals = [m for m in PEERS if m in accuracy]
    regret = accuracy[rivals].max(axis=1) - accuracy[args.tag]
    drawn = ~accuracy.index.get_level_values("cell").str.endswith("/c")
    print(f"{accuracy.index.get_level_values('name').nunique()} sets, "
          f"{len(accuracy)} cells, half {args.half}, {args.columns}")  # fmt: skip
    print(f"regret to the best peer in hindsight: {spread(regret)}; "
          f"per class {spread(regret[~drawn])}, random {spread(regret[drawn])}; "
          f"behind by more than 3: {(regret > 3).mean():.0%}, 5: "
          f"{(regret > 5).mean():.0%}, worst {regret.max():.1f}")  # fmt: skip
    print(f"random labels: behind by more than 5 in hindsight in "
          f"{(regret[drawn] > 5).mean():.0%} of the cells")  # fmt: skip
    for method, figure in (
        *((args.tag, figure) for figure in ("accuracy", "balanced")),
        *((TOLD, "accuracy") for _ in range(TOLD in accuracy)),
    ):
        fair = regret_elsewhere(frame, method, rivals, figure)
        at_random = ~fair.index.get_level_values("cell").str.endswith("/c")
        print(f"{method}, {figure}, behind the peer that is best on the other draws: "
              f"per class {spread(fair[~at_random])}, random "
              f"{spread(fair[at_random])}")  # fmt: skip
    ranks = accuracy[[args.tag, *rivals]].rank(axis=1, ascending=False)
    print(
        "\n| method | mean rank | default ahead, per class | random "
        "| balanced accuracy | log-loss | sets where the default is 3 behind |"
    )
    print("|---" * 7 + "|")
    balanced, loss = by_set(frame, "balanced"), by_set(frame, "log_loss")
    for method in [args.tag, *rivals]:
        lead = accuracy[args.tag] - accuracy[method]
        per_set = lead[drawn].groupby(level="name").mean()
        print(f"| {method} | {ranks[method].mean():.1f} | {spread(lead[~drawn])} | "
              f"{spread(lead[drawn])} | {spread(balanced[args.tag] - balanced[method])}"
              f" | {spread(loss[args.tag] - loss[method])} | "
              f"{int((lead.groupby(level='name').mean() < -3).sum())}, random "
              f"{int((per_set < -3).sum())} |")  # fmt: skip
    print(
        "\n| cell | accuracy | best single peer | regret | log-loss | lowest of "
        "peers | confidence - accuracy |"
    )
    print("|---" * 7 + "|")
    over = by_set(frame, "overconfidence")
    for cell in accuracy.index.unique("cell"):
        at = accuracy.xs(cell, level="cell")
        losses = loss.xs(cell, level="cell").mean()
        single = at[rivals].dropna(axis=0, how="all").mean()
        proper = losses[[m for m in rivals if m not in GRAPHS]]
        print(f"| {cell} | {at[args.tag].mean():.1f} | {single.idxmax()} "
              f"{single.max():.1f} | {regret.xs(cell, level='cell').mean():.2f} | "
              f"{losses[args.tag]:.3f} | {proper.idxmin()} {proper.min():.3f} | "
              f"{over.xs(cell, level='cell')[args.tag].mean():+.1f} |")  # fmt: skip
    if NO_SIZES in accuracy:
        alone = frame[frame["method"].isin([args.tag, NO_SIZES])]
        pairs = alone.pivot_table(
            index=["name", "cell", "draw"], columns="method", values="accuracy"
        )
        lost = pairs[NO_SIZES] - pairs[args.tag]
        print(f"\nclass sizes: {spread(accuracy[args.tag] - accuracy[NO_SIZES])}; "
              f"worst of {len(lost)} draws {-lost.max():+.1f}, more than 10 lost in "
              f"{(lost > 10).sum()}, gained in {(lost < -10).sum()}")  # fmt: skip
    worst = regret.groupby(level="name").mean().sort_values()
    print("\nworst sets:", ", ".join(f"{n} {v:.1f}" for n, v in worst[-8:].items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("cache", type=pathlib.Path, nargs="?", default=pathlib.Path())
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="some sets only")
    parser.add_argument("--half", choices=["choose", "judge"], required=True)
    parser.add_argument("--collection", choices=COLLECTIONS, default="first")
    parser.add_argument("--peers", nargs="+", default=PEERS, help="some of them only")
    parser.add_argument("--columns", choices=COLUMNS, default="scaled")
    parser.add_argument("--ours", choices=["only", "too"])
    parser.add_argument("--tag", default="ours", help="name of the default's rows")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--rows", type=int, default=600)
    arguments = parser.parse_intermixed_args()
    {"run": run, "table": table}[arguments.what](arguments)
