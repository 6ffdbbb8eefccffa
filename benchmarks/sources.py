r"""Noisy sources of labels as evidence: Mercer and what people use.

Sources of seven kinds are made for sets of the collection (`benchmarks/collection`), at
most `--rows` rows of each, columns of unit variance: `random` (five sources of 55 to
85 % accuracy, even errors), `class` (accuracies and errors by class), `rules` (ten
rules that look at one column each), `copies` (three sources, and four that copy a
fourth of 60 %), `dominant` (one of 90 %, five little better than chance), `sparse`
(twenty that vote on 5 % of the rows each) and `adversarial` (three of 70 %, two that
are mostly wrong). 5 and 20 true labels drawn at random, or none. Accuracy on the rows
without one.

Each rival gives one label per row with a vote, true labels in their place, and logistic
regression or Mercer without sources is trained on them. cleanlab is given cross-
validated probabilities of logistic regression on the majority's labels.

Choices are made on the sets of the half `choose` alone, some of which were judged once.
The guide says which of the halves `judge` and `fourth` a table is from.

    python benchmarks/sources.py run CACHE OUT.csv --half choose --draws 2
    python benchmarks/sources.py run CACHE OUT.csv --half fourth
    python benchmarks/sources.py show OUT.csv
    python benchmarks/sources.py many

Needs crowd-kit, snorkel and cleanlab; `--only ours` runs without them.
"""

import argparse
import csv
import pathlib
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from unseen import problem

CHOOSE = (
    "letter", "vehicle", "spambase", "splice", "housevotes", "pima", "thyroid", "cells",
    "tweets", "segment", "german", "olive", "hr", "contraceptive", "juice", "diamonds",
    "tic-tac-toe", "titanic",
)  # fmt: skip
# The first fifteen, in an order drawn with seed 38, of the sets of the third collection
# with at least 200 rows and no rare class. None was looked at before.
JUDGE = (
    "hsb2", "mlb_players_18", "contraception", "anes96", "melanoma", "synth.tr",
    "arrests", "avimedi", "midwest", "carseats", "flchain", "wires", "two_class_dat",
    "ricefarms", "salaries",
)  # fmt: skip
# The same draw from the fourth collection, which no choice for sources was made on.
FOURTH = (
    "exercises", "evals", "grounds", "heights", "voices", "anticancer", "flies",
    "discrim", "music", "friends", "appliances", "std", "gsoep9402", "budgets", "foods",
)  # fmt: skip
HALVES = {"choose": CHOOSE, "judge": JUDGE, "fourth": FOURTH}
KINDS = ("random", "class", "rules", "copies", "dominant", "sparse", "adversarial")
RIVALS = ("majority", "Dawid-Skene", "GLAD", "MACE", "snorkel", "cleanlab")
SIZES = (0, 5, 20)
Votes = np.ndarray  # (n, m), -1 where a source abstains


def load(cache: pathlib.Path, name: str, rows: int) -> tuple[Any, np.ndarray]:
    """Return rows and classes."""
    if not name.startswith(":"):
        return problem(cache, name, scale=True, rows=rows)
    from mercer_studies.data import load as load_study

    data = load_study(name[1:])
    kept = np.sort(np.random.default_rng(7).permutation(len(data.y))[:rows])
    X = data.X[kept]
    X = X if sparse.issparse(X) else np.asarray(X, dtype=float)
    return X, np.unique(np.asarray(data.y)[kept], return_inverse=True)[1]


def noisy(y: np.ndarray, right: Any, rng: np.random.Generator) -> np.ndarray:
    """Return classes that are right with these probabilities, errors even."""
    C, n = int(y.max()) + 1, len(y)
    return np.where(rng.random(n) < right, y, (y + rng.integers(1, C, n)) % C)


def abstaining(votes: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return votes on a share of the rows, at random."""
    return np.where(rng.random(len(votes)) < share, votes, -1)


def rules(X: Any, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return rules on single columns that fire on some rows and are often right.

    Tried in random order; kept if right for 60 to 90 % of the rows, or better than
    three times the share of the class, or among the best.
    """
    C, found, tried = int(y.max()) + 1, [], []
    X = X.tocsc() if sparse.issparse(X) else X
    for _ in range(400):
        j = int(rng.integers(X.shape[1]))
        column = X[:, [j]].toarray().ravel() if sparse.issparse(X) else X[:, j]
        low, high = np.quantile(column, np.sort(rng.random(2)))
        fires = (column >= low) & (column <= high) & (column != column.min())
        if not 0.03 <= fires.mean() <= 0.35:
            continue
        shares = np.bincount(y[fires], minlength=C) / fires.sum()
        c = int(shares.argmax())
        rule = np.where(fires, c, -1)
        fine = 0.6 <= shares[c] <= 0.9 and shares[c] > 1.2 * np.mean(y == c)
        (found if fine else tried).append((-shares[c] / np.mean(y == c), rule))
    found = [rule for _, rule in found[:10]]
    tried.sort(key=lambda pair: pair[0])
    found += [rule for _, rule in tried[: 10 - len(found)]]
    return found or [np.full(len(y), -1)]


def votes_of(kind: str, X: Any, y: np.ndarray, rng: np.random.Generator) -> Votes:
    """Return the votes of one kind of sources."""
    C = int(y.max()) + 1
    if kind == "random":
        rates = rng.uniform(0.55, 0.85, 5)
        made = [abstaining(noisy(y, rate, rng), 0.7, rng) for rate in rates]
    elif kind == "class":
        made = []
        for _ in range(5):
            right, taken = rng.uniform(0.3, 0.95, C), rng.integers(1, C, C)
            wrong = (y + taken[y]) % C
            votes = np.where(rng.random(len(y)) < right[y], y, wrong)
            made.append(abstaining(votes, 0.8, rng))
    elif kind == "rules":
        made = rules(X, y, rng)
    elif kind == "copies":
        first = noisy(y, 0.6, rng)
        made = [noisy(y, rate, rng) for rate in rng.uniform(0.6, 0.8, 3)]
        own = [noisy(y, 0.6, rng) for _ in range(4)]
        made += [np.where(rng.random(len(y)) < 0.9, first, votes) for votes in own]
    elif kind == "dominant":
        weak = 1 / C + 0.1 * (1 - 1 / C)
        made = [noisy(y, rate, rng) for rate in (0.9, *[weak] * 5)]
    elif kind == "sparse":
        rates = rng.uniform(0.6, 0.9, 20)
        made = [abstaining(noisy(y, rate, rng), 0.05, rng) for rate in rates]
    else:
        made = [noisy(y, rate, rng) for rate in (0.7, 0.7, 0.7, 0.15, 0.15)]
    return np.column_stack(made)


def consensus(rival: str, votes: Votes, C: int, X: Any) -> np.ndarray:
    """Return the label that a rival gives each row with a vote, else -1."""
    row, source = np.nonzero(votes >= 0)
    found = np.full(len(votes), -1)
    voted = np.unique(row)
    if rival in ("snorkel", "cleanlab") or not len(row):
        return _others(rival, votes, C, X, voted)
    import crowdkit.aggregation as ck

    frame = pd.DataFrame({"task": row, "worker": source, "label": votes[row, source]})
    made = {"majority": ck.MajorityVote, "Dawid-Skene": ck.DawidSkene,
            "GLAD": ck.GLAD, "MACE": ck.MACE}[rival]  # fmt: skip
    options: dict[str, Any] = {
        "Dawid-Skene": {"n_iter": 100}, "MACE": {"n_restarts": 2, "random_state": 0},
        "GLAD": {"n_iter": 10},
    }.get(rival, {})  # fmt: skip
    labels = made(**options).fit_predict(frame)
    found[labels.index.to_numpy()] = labels.to_numpy()
    return found


def _others(rival: str, votes: Votes, C: int, X: Any, voted: np.ndarray) -> np.ndarray:
    found = np.full(len(votes), -1)
    if rival == "snorkel":
        from snorkel.labeling.model import LabelModel

        model = LabelModel(cardinality=C, verbose=False)
        model.fit(votes, n_epochs=300, seed=0, progress_bar=False)
        found[voted] = model.predict(votes[voted], tie_break_policy="random")
        return found
    from cleanlab.multiannotator import get_label_quality_multiannotator

    most = consensus("majority", votes, C, X)[voted]
    folds = int(min(5, np.bincount(most)[np.bincount(most) > 0].min()))
    if folds < 2 or len(np.unique(most)) < 2:
        found[voted] = most
        return found
    p = np.full((len(voted), C), 1e-6)
    seen = np.unique(most)
    model = LogisticRegression(max_iter=300)
    p[:, seen] = cross_val_predict(
        model, X[voted], most, cv=folds, method="predict_proba"
    )
    p /= p.sum(axis=1, keepdims=True)
    given = pd.DataFrame(votes[voted]).astype(float).replace(-1.0, np.nan)
    given = given.loc[:, given.notna().any()]
    quality = get_label_quality_multiannotator(given, p, verbose=False)
    found[voted] = quality["label_quality"]["consensus_label"].to_numpy()
    return found


class Mercer:
    """The default on one table; the basis is shared by all cells."""

    def __init__(self, X: Any, y: np.ndarray) -> None:
        from mercer import UnifiedKernelMachine

        some = np.where(np.arange(len(y)) % 2 == 0, y, -1)
        self.model = UnifiedKernelMachine(random_state=0).fit(X, some)

    def plain(self, given: np.ndarray) -> np.ndarray:
        """Return predictions from labels alone."""
        seen = np.unique(given[given >= 0])
        if len(seen) < 2:
            return np.full(len(given), seen[0] if len(seen) else 0)
        return np.asarray(self.model.with_labels(given).transduction_)

    def told(self, given: np.ndarray, votes: Votes) -> tuple[np.ndarray, Any]:
        """Return predictions from labels and votes, and the model."""
        model = self.model.with_labels(given, sources=votes)
        return np.asarray(model.transduction_), model


def logistic(X: Any, given: np.ndarray) -> np.ndarray:
    """Return predictions of logistic regression on the rows with a label."""
    at = np.flatnonzero(given >= 0)
    seen = np.unique(given[at])
    if len(seen) < 2:
        return np.full(len(given), seen[0] if len(seen) else 0)
    return np.asarray(LogisticRegression(max_iter=300).fit(X[at], given[at]).predict(X))


def cells(args: argparse.Namespace) -> Iterator[tuple[int, str, str, int]]:
    """Yield draw, set, kind and number of true labels."""
    for draw in range(args.from_draw, args.draws):
        for name in args.sets or HALVES[args.half]:
            for kind in args.kinds:
                for size in args.sizes:
                    yield draw, name, kind, size


def alone(votes: Votes, given: np.ndarray, C: int) -> np.ndarray:
    """Return what the sources say without looking at the rows."""
    from mercer.evidence.sources import Sources
    from mercer.judging.sources import weigh_sources

    read = Sources.read(votes).with_classes(np.arange(C))
    return np.asarray(weigh_sources(read, given).beliefs.argmax(axis=1))


KEYS = ["draw", "set", "kind", "labels", "method"]
HEADS = [*KEYS, "accuracy", "right", "covered", "sources", "width", "seconds"]


def run(args: argparse.Namespace) -> None:
    """Run what is missing."""
    warnings.simplefilter("ignore")
    done: set[Any] = set()
    loaded: Any = None
    said: dict[Any, np.ndarray] = {}
    if args.out.exists():
        done = set(pd.read_csv(args.out)[KEYS].itertuples(index=False, name=None))
    file = args.out.open("a", newline="")
    writer = csv.writer(file)
    if not done:
        writer.writerow(HEADS)
    for draw, name, kind, size in cells(args):
        if loaded is None or loaded[0] != name:
            X, y = load(args.cache, name, args.rows)
            loaded, said = (name, X, y, Mercer(X, y)), {}
        _, X, y, mercer = loaded
        C = int(y.max()) + 1
        rng = np.random.default_rng([draw, KINDS.index(kind), 38])
        votes = votes_of(kind, X, y, rng)
        if (votes < 0).all():
            continue  # a set that no rule was found for
        rows = np.random.default_rng([draw, size, 7]).permutation(len(y))[:size]
        given = np.full(len(y), -1)
        given[rows] = y[rows]
        rest = np.setdiff1d(np.arange(len(y)), rows)
        right = float(np.mean((votes == y[:, None])[votes >= 0]))

        def write(method: str, found: np.ndarray, since: float, more: Any = ("",) * 3,
                  cell: Any = (draw, name, kind, size), rest: Any = rest, y: Any = y,
                  right: float = right) -> None:  # fmt: skip
            accuracy = 100 * np.mean(found[rest] == y[rest])
            writer.writerow([*cell, method, f"{accuracy:.3f}", f"{right:.3f}", *more,
                             f"{time.process_time() - since:.3f}"])  # fmt: skip
            file.flush()

        def todo(method: str, cell: Any = (draw, name, kind, size)) -> bool:
            return (*cell, method) not in done

        if args.only != "theirs" and todo(args.tag):
            start = time.process_time()
            found, model = mercer.told(given, votes)
            write(args.tag, found, start, covered(model, votes, y))
        if args.only == "ours":
            continue
        if todo("without sources"):
            start = time.process_time()
            write("without sources", mercer.plain(given), start)
        if todo("sources alone"):
            start = time.process_time()
            write("sources alone", alone(votes, given, C), start)
        for rival in args.rivals:
            if not (todo(f"{rival}, logistic") or todo(f"{rival}, Mercer")):
                continue
            start = time.process_time()
            if (draw, kind, rival) not in said:
                said[draw, kind, rival] = consensus(rival, votes, C, X)
            labels = said[draw, kind, rival].copy()
            labels[rows] = y[rows]
            write(f"{rival}, logistic", logistic(X, labels), start)
            write(f"{rival}, Mercer", mercer.plain(labels), start)


def covered(model: Any, votes: Votes, y: np.ndarray) -> tuple[int, int, float]:
    """Return how many stated intervals hold the accuracy of a source, of how many.

    And the sum of their widths.
    """
    hits, tried, width = 0, 0, 0.0
    if model.believed_ is None:  # votes and labels name one class
        return hits, tried, width
    for k, source in enumerate(model.source_report().sources):
        voted = votes[:, k] >= 0
        if voted.any():
            truth = float(np.mean(votes[voted, k] == y[voted]))
            hits += source.low - 1e-9 <= truth <= source.high + 1e-9
            tried += 1
            width += source.high - source.low
    return hits, tried, width


def show(path: pathlib.Path) -> None:
    """Print accuracy by kind, ranks, and how often intervals hold the truth."""
    found = pd.read_csv(path).drop_duplicates(KEYS)
    index = ["draw", "set", "kind", "labels"]
    table = found.pivot_table(index=index, columns="method", values="accuracy")
    table = table.dropna()
    counted = (table.index.get_level_values(name).nunique() for name in index[:2])
    print("{} draws, {} sets, {} cells".format(*counted, len(table)))
    rank = table.rank(axis=1, ascending=False).mean()
    by_kind, every = table.groupby(level="kind").mean(), table.mean()
    print("| method | mean rank |" + " | ".join(by_kind.index) + " | all |")
    print("|---" * (3 + len(by_kind)) + "|")
    for method in rank.sort_values().index:
        figures = " | ".join(f"{v:.1f}" for v in by_kind[method])
        print(f"| {method} | {rank[method]:.2f} | {figures} | {every[method]:.1f} |")
    for size in (None, *SIZES):
        part = table if size is None else table.xs(size, level="labels")
        for kind, cell in part.groupby(level="kind"):
            best = cell.drop(columns="Mercer").mean().idxmax()
            lead = (cell["Mercer"] - cell[best]).groupby(level="set").mean()
            print(f"{'all' if size is None else size} labels, {kind}: "
                  f"{cell['Mercer'].mean():.1f}, {best} {cell[best].mean():.1f}, "
                  f"lead {lead.mean():.1f} ± {lead.sem():.1f}")  # fmt: skip
    right = found.pivot_table(index=index, values="right")["right"].reindex(table.index)
    lead = (table["Mercer"] - table["without sources"])[right >= 0.7]
    sets = lead.groupby(level="set").mean()
    print(f"ahead of no sources where these are 70 % right: {sets.mean():.1f} ± "
          f"{sets.sem():.1f}; by labels "
          f"{lead.groupby(level='labels').mean().round(1).to_dict()}")  # fmt: skip
    ours = found[found["method"] == "Mercer"]
    for name, part in [("all", ours), *ours.groupby("kind"), *ours.groupby("labels")]:
        held = part.groupby("set")[["covered", "sources", "width"]].sum()
        number = held["sources"].sum()
        rate, error = held["covered"].sum() / number, _error(held)
        width = held["width"].sum() / number
        print(f"intervals that hold the accuracy, {name}: {rate:.1%} ± {error:.1%} of "
              f"{number:,.0f}, mean width {width:.3f}")  # fmt: skip


def _error(held: pd.DataFrame) -> float:
    return float((held["covered"] / held["sources"]).sem())


def many(rows: int) -> None:
    """Print what 50 sources add to the time of a fit on many rows."""
    from mercer import UnifiedKernelMachine

    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=rows)
    X = (rng.normal(size=(rows, 20)) + truth[:, None]).astype(np.float32)
    y = np.where(np.arange(rows) < 50, truth, -1)
    said = rng.integers(5, size=(rows, 50), dtype=np.int8)
    wrong = rng.random((rows, 50)) > 0.7
    votes = np.where(wrong, said, truth[:, None].astype(np.int8))
    votes[rng.random((rows, 50)) > 0.3] = -1
    for given in ({}, {"sources": votes}) * 2:  # the first fits compile
        start = time.process_time()
        model = UnifiedKernelMachine(random_state=0).fit(X, y, **given)
        _ = model.transduction_  # computed when it is read
        print(f"{list(given) or 'none'}: {time.process_time() - start:.1f} CPU seconds")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("cache", type=pathlib.Path)
    running.add_argument("out", type=pathlib.Path)
    running.add_argument("--half", choices=HALVES, default="choose")
    running.add_argument("--draws", type=int, default=1)
    running.add_argument("--rows", type=int, default=300)
    running.add_argument("--sets", nargs="*", help="some sets instead of a half")
    running.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    running.add_argument("--from-draw", type=int, default=0)
    running.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    running.add_argument("--rivals", nargs="*", default=RIVALS, choices=RIVALS)
    running.add_argument("--only", choices=["ours", "theirs"])
    running.add_argument("--tag", default="Mercer")
    running.set_defaults(call=run)
    showing = commands.add_parser("show")
    showing.add_argument("out", type=pathlib.Path)
    showing.set_defaults(call=lambda args: show(args.out))
    large = commands.add_parser("many")
    large.add_argument("--rows", type=int, default=1_000_000)
    large.set_defaults(call=lambda args: many(args.rows))
    asked = parser.parse_args()
    asked.call(asked)
