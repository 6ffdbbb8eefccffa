"""The stage ledger: what every stage of the default adds, and what it takes to keep.

Each stage is left out once, by a value of the rule or by a function that is replaced
here and nowhere else, and compared with the default on the same rows and labels: 1, 2,
5 and 10 labels per class, 20 and 50 at random. A gain is the default minus the model
without the stage, mean over labels and draws, then over data sets, with the standard
error over data sets.

    python benchmarks/stages.py run RESULTS.csv [--jobs 16] [--draws 5]
        [--rows 10000] [--only NAME ...] [--cells 1/c 20 ...] [--stages trees ...]
        [--cache FOLDER --half choose]
    python benchmarks/stages.py table RESULTS.csv [--measure balanced] [--cell 5/c ...]

One process per data set. Lines are appended, and what is there is not run again.
`--cache` takes the files of `benchmarks/collection` as a further group. `confidence`
is the mean probability of the predicted class minus the accuracy. The group `clear` of
the table holds the draws, of any set, whose classes the default took for
clear clusters. Needs MERCER_DATA; the sets are listed in `benchmarks/stage_sets.py`.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import ast
import csv
import importlib
import inspect
import pathlib
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

import numpy as np
from stage_sets import problem, sources

from mercer.fewlabels import AutoKernel, LeaveOneOutRLS
from mercer.fewlabels.rule import DEFAULT, Rule

CELLS = ("1/c", "2/c", "5/c", "10/c", "20", "50")
KEYS = ("set", "group", "cell", "draw", "stage")
MEASURES = ("accuracy", "balanced", "log_loss", "confidence")
HEAD = (*KEYS, *MEASURES, "unexplained", "n", "seconds")
ROOM = "mercer.fewlabels"


@dataclass(frozen=True)
class Stage:
    """How a stage is left out, and what it consists of."""

    rule: dict[str, Any] = field(default_factory=dict)
    replaced: dict[str, Callable[..., Any]] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    changes_pool: bool = False
    changes_kernel: bool = False
    code: tuple[str, ...] = ()  # modules, or functions after a colon
    constants: tuple[str, ...] = ()  # fields of the rule that go with it


def without_member(*beginnings: str) -> dict[str, Callable[..., Any]]:
    """Return what leaves members of the pool out, by the beginning of their names."""
    from mercer.fewlabels.weigh import pool_members

    def rest(*given: Any) -> list[Any]:
        every = pool_members(*given)
        return [m for m in every if not m.name.startswith(beginnings)] or every

    return {f"{ROOM}.weigh.pool_members": rest}


def no_votes(Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Stand for `held_out_votes`: no label can be held out, so that priors decide."""
    return np.zeros_like(Y)


def no_offsets(scores: Any, sizes: np.ndarray, **_: Any) -> np.ndarray:
    """Stand for `match_sizes`: classes have whatever sizes the scores give them."""
    return np.zeros(len(sizes))


def predicted_only(*given: Any, **options: Any) -> dict[str, np.ndarray]:
    """Stand for `candidate_sizes`: the predicted sizes alone."""
    from mercer.fewlabels.sizes import candidate_sizes

    name, sizes = next(iter(candidate_sizes(*given, **options).items()))
    return {name: sizes}


def _kernel(*names: str, **options: Any) -> Stage:
    return Stage(replaced=without_member(*names), changes_kernel=True, **options)


STAGES = {
    "scaling": Stage(
        {"even_columns": 0.0},
        changes_pool=True,
        code=("pools.units",),
        constants=(
            *("even_columns", "unrelated_columns", "unrelated_within"),
            *("many_parts", "alike_sums"),
        ),
    ),
    # Sizes of graphs, as `KernelPool` and as `AnchorPool` name them.
    "graph 3": _kernel("graph 3", "anchors 3"),
    "graph 20": _kernel("graph 20", "anchors 10"),
    "linear": _kernel("linear", code=("pools.plain_kernels",), constants=("powers",)),
    "power 1": Stage({"powers": (2.0,)}, changes_kernel=True),
    "power 2": Stage({"powers": (1.0,)}, changes_kernel=True),
    "density": _kernel("density", constants=("density_neighbor",)),
    "linear and density": _kernel("linear", "density", constants=("flat_prior",)),
    "ridge 0.1": Stage({"ridges": (1.0,)}, changes_kernel=True),
    "ridge 1": Stage({"ridges": (0.1,)}, changes_kernel=True),
    "weights": Stage(
        replaced={f"{ROOM}.weigh.held_out_votes": no_votes},
        changes_kernel=True,
        code=("weigh:weigh_pool",),
        constants=("slopes", "usual_slope", "slope_doubt", "doubt_fades"),
    ),
    "calibration": Stage(
        {"slope_stiffness": 1e12, "offset_spread": 1e-6},
        code=("ridge:calibrate",),
        constants=("slope_stiffness", "offset_spread", "added_label"),
    ),
    "trees": Stage(
        {"trees": 0},
        code=("trees", "opinion", "_grow", "_votes"),
        constants=(
            *("trees", "tree_tries", "tree_share", "tree_doubt", "tree_centring"),
        ),
    ),
    "shares": Stage(
        {"labels_for_sizes": np.inf}, code=("shift",), constants=("labels_for_sizes",)
    ),
    "sizes": Stage(
        replaced={f"{ROOM}.spreading.match_sizes": no_offsets},
        code=("sizes:match_sizes", "sizes:candidate_sizes", "sizes:estimated_sizes"),
    ),
    "sizes of labels": Stage(
        replaced={f"{ROOM}.spreading.candidate_sizes": predicted_only},
        code=("sizes:candidate_sizes", "sizes:unevenness", "spreading:_first"),
        constants=("label_trust", "most_moved"),
    ),
    "spreading": Stage(
        {"gain": 0.0, "resplits": 0},
        code=("spreading", "gain", "partition"),
        constants=(
            *("gain", "skill_power", "points_per_label", "doubted_labels"),
            *("directions_per_class", "share_of_points", "sampled_points", "clear"),
        ),
    ),
    "resplitting": Stage(
        {"resplits": 0},
        code=("partition:resplit", "partition:split_pair", "partition:_confused"),
        constants=("worth", "split_directions", "split_pairs", "resplits"),
    ),
    "sureness": Stage(
        {"sureness": 1.0}, code=("gain:sureness",), constants=("sureness",)
    ),
    "shares, sizes, spreading": Stage(machine={"class_sizes": None}),
}
# What no stage can do without.
CORE = (
    *("view_graphs", "view_anchors", "seen_points"),
    *("graphs", "nearest_anchors", "directions", "fewest_directions"),
    *("class_directions", "steepness", "ridges", "far_share", "drift_chance"),
)


def draw(y: np.ndarray, cell: str, number: int) -> np.ndarray | None:
    """Return the labelled rows, or None where they would be half of all."""
    rng = np.random.default_rng([number, CELLS.index(cell), 30])
    if cell.endswith("/c"):
        count = int(cell[:-2])
        groups = [np.flatnonzero(y == c) for c in range(y.max() + 1)]
        chosen = [rng.choice(g, min(count, len(g) - 1), replace=False) for g in groups]
        rows = np.concatenate(chosen)
    else:
        rows = rng.permutation(len(y))[: int(cell)]
    enough = len(rows) <= len(y) / 2 and len(np.unique(y[rows])) > 1
    return rows if enough else None


def measured(machine: Any, y: np.ndarray, known: np.ndarray) -> list[float]:
    """Return the measures on the unlabelled rows of classes that have a label."""
    p, seen = np.asarray(machine.training_proba_), machine.classes_
    asked = np.setdiff1d(np.flatnonzero(np.isin(y, seen)), known)
    p, at = p[asked], np.searchsorted(seen, y[asked])
    right = p.argmax(axis=1) == at
    by_class = [right[at == c].mean() for c in np.unique(at)]
    loss = -np.log(np.maximum(p[np.arange(len(at)), at], 1e-4)).mean()
    over = p.max(axis=1).mean() - right.mean()
    return [
        100 * right.mean(),
        100 * float(np.mean(by_class)),
        float(loss),
        100 * float(over),
    ]


class Runner:
    """One data set: its pools, and the learned kernel of the present labels."""

    def __init__(self, X: Any, y: np.ndarray) -> None:
        self.X, self.y = X, y
        first = np.unique(y, return_index=True)[1]
        self.first = np.full(len(y), -1)  # a pool asks for the number of classes only
        self.first[first] = y[first]
        self.pool = AutoKernel(random_state=0).fit(X, self.first).basis_
        self.others: dict[str, Any] = {}

    def pool_of(self, name: str, rule: Rule) -> Any:
        """Return the pool of a stage that changes it."""
        if name == "scaling" and self.pool.scales_ is None:
            return self.pool  # nothing was scaled
        if name not in self.others:
            learner = AutoKernel(rule=rule, random_state=0)
            self.others[name] = learner.fit(self.X, self.first).basis_
        return self.others[name]

    def run(
        self, known: np.ndarray, names: list[str]
    ) -> dict[str, tuple[list[float], Any, float]]:
        """Return measures, what is left unexplained, and seconds of each stage."""
        labels = np.full(len(self.y), -1)
        labels[known] = self.y[known]
        default = AutoKernel().learn(self.pool, labels).kernel_
        found = {}
        for name in names:
            stage, start = STAGES.get(name, Stage()), time.process_time()
            rule = replace(DEFAULT, **stage.rule)
            with ExitStack() as stack:
                for target, function in stage.replaced.items():
                    stack.enter_context(patch(target, function))
                kernel = default
                if stage.changes_pool or stage.changes_kernel:
                    pool = self.pool
                    if stage.changes_pool:
                        pool = self.pool_of(name, rule)
                    kernel = AutoKernel(rule=rule).learn(pool, labels).kernel_
                machine = LeaveOneOutRLS(rule=rule, **stage.machine)
                machine.solve(kernel, labels)
            left = machine.certificate_.unexplained
            seconds = time.process_time() - start
            found[name] = measured(machine, self.y, known), left, seconds
        return found


def run_set(
    name: str,
    cache: pathlib.Path | None,
    half: str,
    path: pathlib.Path,
    draws: int,
    rows: int | None,
    cells: tuple[str, ...] = CELLS,
    stages: tuple[str, ...] = tuple(STAGES),
) -> str:
    """Run stages on one data set and append the results."""
    warnings.simplefilter("ignore")
    start, source = time.process_time(), sources(cache, half)[name]
    done = {tuple(row[key] for key in KEYS) for row in read(path)}
    runner = None
    for number in range(draws):
        for cell in cells:
            key = (name, source.group, cell, str(number))
            missing = [s for s in ("default", *stages) if (*key, s) not in done]
            if not missing:
                continue
            if runner is None:
                runner = Runner(*problem(source, rows))
            known = draw(runner.y, cell, number)
            if known is None:
                continue
            lines = [
                [*key, s, *np.round(m, 5), left, len(runner.y), round(seconds, 3)]
                for s, (m, left, seconds) in runner.run(known, missing).items()
            ]
            text = "".join(csv_line(line) for line in lines)
            with path.open("a", encoding="utf-8") as file:
                file.write(text)  # at once, so that no other process comes between
    return f"{name}: {time.process_time() - start:.0f} CPU s"


def csv_line(values: Any) -> str:
    """Return a line of a CSV file; names may hold commas."""
    cells = ("" if v is None else str(v) for v in values)
    return ",".join(f'"{c}"' if "," in c else c for c in cells) + "\n"


def read(path: pathlib.Path) -> list[dict[str, str]]:
    """Return the results so far."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(args: argparse.Namespace) -> None:
    if not args.results.exists():
        args.results.write_text(csv_line(HEAD), encoding="utf-8")
    every = sources(args.cache, args.half)
    names = sorted(args.only or every, key=lambda name: -every[name].cost)
    given = (args.cache, args.half, args.results, args.draws, args.rows)
    given = (*given, args.cells, args.stages)
    with ProcessPoolExecutor(
        args.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        jobs = {pool.submit(run_set, name, *given): name for name in names}
        for job in as_completed(jobs):
            failure = job.exception()
            line = f"{jobs[job]}: {failure!r}" if failure else job.result()
            print(line, flush=True)


def n_lines(place: str) -> int:
    """Return the lines of code of a module or function, without docstrings."""
    module, _, name = place.partition(":")
    found: Any = importlib.import_module(f"{ROOM}.{module}")
    tree = ast.parse(inspect.getsource(getattr(found, name) if name else found))
    texts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            texts |= set(range(node.lineno, node.end_lineno + 1))  # type: ignore[operator]
    code = {node.lineno for node in ast.walk(tree) if hasattr(node, "lineno")}
    return len(code - texts)


def table(args: argparse.Namespace) -> None:
    rows = [r for r in read(args.results) if not args.cell or r["cell"] in args.cell]
    draws: dict[tuple[str, ...], dict[str, dict[str, str]]] = defaultdict(dict)
    for row in rows:
        draws[row["set"], row["cell"], row["draw"]][row["stage"]] = row
    gains: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    sign = -1.0 if args.measure == "log_loss" else 1.0
    for (name, *_), by_stage in draws.items():
        if "default" not in by_stage:
            continue
        own = by_stage["default"]
        groups = [own["group"], "all"]
        if own["unexplained"] and float(own["unexplained"]) <= DEFAULT.clear:
            groups.append("clear")
        for stage, row in by_stage.items():
            gain = sign * (float(own[args.measure]) - float(row[args.measure]))
            for group in groups:
                gains[stage, group][name].append(gain)
    order = ("tables", "larger", "images", "clusters", "collection", "clear", "all")
    groups = [g for g in order if any(g == group for _, group in gains)]
    counts = {g: len(gains["default", g]) for g in groups}
    heads = [f"{g} ({counts[g]} sets)" for g in groups]
    print("| stage | lines | constants |", " | ".join(heads), "|")
    print("|" + "---|" * (3 + len(groups)))
    places = 3 if args.measure == "log_loss" else 2
    for name, stage in STAGES.items():
        lines = sum(map(n_lines, stage.code)) or ""
        cells = []
        for group in groups:
            means = [np.mean(of_set) for of_set in gains[name, group].values()]
            if not means:
                cells.append("")
                continue
            error = np.std(means, ddof=1) / np.sqrt(len(means)) if means[1:] else np.nan
            cells.append(f"{np.mean(means):+.{places}f} ± {error:.{places}f}")
        constants = len(stage.constants) or ""
        print(f"| {name} | {lines} | {constants} |", " | ".join(cells), "|")
    told = {c for stage in STAGES.values() for c in stage.constants} | set(CORE)
    unknown = told ^ {f.name for f in fields(Rule)}
    if unknown:
        print("\nfields that this script or the rule does not name:", sorted(unknown))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("results", type=pathlib.Path)
    one.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    one.add_argument("--draws", type=int, default=5)
    one.add_argument("--rows", type=int, help="at most, of each set")
    one.add_argument("--only", nargs="+", help="names of data sets")
    one.add_argument("--cells", nargs="+", choices=CELLS, default=CELLS)
    one.add_argument("--stages", nargs="+", choices=STAGES, default=tuple(STAGES))
    one.add_argument("--cache", type=pathlib.Path, help="benchmarks/collection made it")
    one.add_argument("--half", choices=("choose", "judge"), default="choose")
    one.set_defaults(go=run)
    two = commands.add_parser("table")
    two.add_argument("results", type=pathlib.Path)
    two.add_argument("--measure", choices=MEASURES, default="accuracy")
    two.add_argument("--cell", nargs="+", choices=CELLS)
    two.set_defaults(go=table)
    args = parser.parse_args()
    args.go(args)


if __name__ == "__main__":
    main()
