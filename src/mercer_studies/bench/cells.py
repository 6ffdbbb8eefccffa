"""What is measured: tasks, methods, data and sizes."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

NEIGHBORS = 10  # of each point, in searches and graphs
PAIRS = 50  # eigenpairs
RECALL = 0.99  # that searches are tuned to
MERCER = "mercer"  # whose methods are named first, and that others are compared with


@dataclass(frozen=True)
class Method:
    """One way to do a task."""

    name: str
    function: str  # "module:name" in this package
    package: str  # what it needs to be installed
    up_to: int = 10**9  # size beyond which it needs too much memory or time
    warm_up: int = 600  # rows on which compiled functions are compiled


@dataclass(frozen=True)
class Task:
    """What the methods do, and how well they did it."""

    methods: tuple[Method, ...]
    score: str  # what is in the column of the score
    more_is_better: bool
    size: str  # what n counts
    plan: tuple[tuple[str, tuple[int, ...]], ...]  # data and sizes of a full run


@dataclass(frozen=True)
class Cell:
    """A method on data of one size."""

    task: str
    data: str
    n: int
    method: str

    def key(self) -> str:
        """Return a text that tells cells apart."""
        return json.dumps(asdict(self), sort_keys=True)

    def how(self) -> Method:
        """Return the method."""
        every = TASKS[self.task].methods
        return next(method for method in every if method.name == self.method)


def _mercer(name: str, function: str) -> Method:
    # The search of more than 8,192 points is compiled apart.
    return Method(name, function, "mercer", warm_up=9_000)


def _sklearn(name: str, function: str, up_to: int = 10**9) -> Method:
    return Method(name, f"learners:{function}", "sklearn", up_to)


TASKS = {
    "learn": Task(
        (
            _mercer("mercer", "learners:mercer_default"),
            _mercer("mercer, one graph", "learners:mercer_graph"),
            _sklearn("LabelSpreading, knn", "label_spreading_knn", 30_000),
            _sklearn("LabelSpreading, rbf", "label_spreading_rbf", 5_000),
            _sklearn("LabelPropagation, knn", "label_propagation_knn", 30_000),
            _sklearn("SelfTraining", "self_training", 10_000),
            Method("Laplace", "learners:laplace", "graphlearning", 30_000),
            Method("Poisson", "learners:poisson", "graphlearning", 30_000),
            Method("PoissonMBO", "learners:poisson_mbo", "graphlearning", 30_000),
            _sklearn("nearest label", "nearest_label"),
            _sklearn("logistic regression", "logistic_regression"),
            _sklearn("SVC", "svc"),
            _sklearn("random forest", "random_forest"),
        ),
        "accuracy, %",
        True,
        "points",
        (
            ("digits", (1_797,)),
            ("mixture", (1_000, 3_000, 10_000, 30_000)),
            ("mnist", (10_000,)),
        ),
    ),
    "neighbors": Task(
        (
            _mercer("mercer", "searches:mercer_search"),
            Method("scikit-learn", "searches:brute_force", "sklearn", 30_000),
            Method("faiss", "searches:faiss_cells", "faiss"),
            Method("hnswlib", "searches:hnsw", "hnswlib", 100_000),
            Method("pynndescent", "searches:nn_descent", "pynndescent"),
        ),
        "recall",
        True,
        "points",
        (("mixture", (3_000, 10_000, 30_000)),),
    ),
    "eigenpairs": Task(
        (
            Method("mercer", "solvers:mercer_pairs", "mercer"),
            Method("eigsh", "solvers:eigsh_pairs", "scipy"),
        ),
        "largest residual",
        False,
        "points",
        (("sheet", (3_000, 10_000, 30_000)), ("mnist", (10_000,))),
    ),
    "solvers": Task(
        (
            Method("mercer", "solvers:mercer_spectrum", "mercer"),
            Method("cvxpy, Clarabel", "solvers:cvxpy_clarabel", "cvxpy"),
            Method("cvxpy, OSQP", "solvers:cvxpy_osqp", "cvxpy"),
        ),
        "alignment",
        True,
        "directions",
        (("digits", (20, 60, 200)),),
    ),
}


def plan(
    tasks: Sequence[str] = (),
    *,
    data: Sequence[str] = (),
    sizes: Sequence[int] = (),
    methods: Sequence[str] = (),
) -> list[Cell]:
    """Return the cells of a run, small sizes first.

    What is left out means all. Data that a task has no plan for are run at the sizes
    given.

    Examples
    --------
    >>> [cell.method for cell in plan(["eigenpairs"], data=["sheet"], sizes=[100])]
    ['mercer', 'eigsh']
    """
    return [
        Cell(task, name, n, method.name)
        for task in tasks or TASKS
        for name, n in _sizes(TASKS[task], data, sizes)
        for method in TASKS[task].methods
        if n <= method.up_to and (not methods or method.name in methods)
    ]


def _sizes(
    task: Task, data: Sequence[str], sizes: Sequence[int]
) -> Iterator[tuple[str, int]]:
    planned = dict(task.plan)
    for name in data or planned:
        for n in sorted(sizes or planned.get(name, ())):
            yield name, n
