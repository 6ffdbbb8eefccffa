"""Every choice of the default for few labels, in one place.

Figures behind the choices: docs/few_labels.md.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """The choices of `KernelPool`, `AutoKernel` and `LeaveOneOutRLS`.

    Parameters
    ----------
    graphs : tuple of int
        Neighbours per point of the graphs in the pool. Nobody knows beforehand which
        suits the data; five sizes were no better than three.
    directions : int
        Directions per graph and per plain kernel; 150 serve some 30 classes.
    density_neighbor : int
        The density at a point is minus the logarithm of the distance to this
        neighbour.
    steepness : float
        Power q of the spectral weights (tau / (gamma + tau))^q of a graph kernel.
    ranks : tuple of float
        Effective ranks of the graph kernels, in classes.
    best_graph, graph_power : float
        A graph of k neighbours has the prior (k/b + b/k)^-p: largest at b.
    kernel_prior, density_prior : float
        Priors of a plain kernel and of the density.
    ridges : tuple of float
        Strengths of the ridge, for kernels of unit variance.
    even_labels : float
        Labels that every class is given besides its own when labels are weighed: a
        class with two labels where others have one is no larger for it.
    added_label : float
        Added to the number of labels of a class before its share is taken.
    pull_to_shares : float
        How far the regression's own offsets are drawn to the log-shares of the labels.
    slopes : tuple of float
        Slopes of the softmax that held-out scores are judged with.
    usual_slope, slope_doubt : float
        The slope before labels are seen, for scores of unit deviation, and the weight
        of log^2(a / usual) against the log-loss.
    slope_stiffness, offset_spread : float
        The calibration pays s/2 (a - 1)^2 for its slope a, and |c - c0|^2 / (2 t^2)
        for its offsets.
    gain : float
        How much of a decision is spread, in units of the scores' own size.
    points_per_label, labels_at_hand : float
        Spreading fades by n / (n + p (l + h)) among few points or with many labels.
    doubted_labels : float
        Labels added to those held out when the share of errors is taken.
    directions_per_class, share_of_points : float
        Degrees of freedom of the regression that spreads: so many per class, at most
        this share of the points.
    gentle_power : float
        The first rounds, with the kernel itself, have the gain times fading^p.
    few_fading : float
        Up to this fading (few points) clear clusters are also spread at full gain.
    sampled_points : int
        Points on which divisions are looked for; the last rounds use all points.
    rounds, last_rounds : int
        Rounds of spreading, and those with all points at the end.
    sweeps : int
        Sweeps of the size matching per round.
    still : float
        Share of decisions that may change in a round that counts as converged.
    label_trust : float
        Label shares weigh at most u = min(1, t C / l) against predicted shares.
    smoothing_per_class : float
        Labels added to each class, per class, when label shares are taken.
    clear : float
        Classes that leave more than this share unexplained are no clusters.
    worth : float
        A new division leaves at most this share of what the old one left.
    split_directions, split_pairs : int
        Principal directions and pairs of classes that are tried for a new division.
    resplits, split_rounds : int
        New divisions at most, and rounds of k-means for each.
    """

    graphs: tuple[int, ...] = (3, 10, 50)
    directions: int = 150
    density_neighbor: int = 10
    steepness: float = 5.0
    ranks: tuple[float, ...] = (1.0, 1.5, 4.0)
    best_graph: float = 7.0
    graph_power: float = 0.6
    kernel_prior: float = 0.17
    density_prior: float = 0.18

    ridges: tuple[float, ...] = (0.1, 1.0, 10.0)
    even_labels: float = 5.0
    added_label: float = 1.0
    pull_to_shares: float = 0.5
    slopes: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
    usual_slope: float = 2.0
    slope_doubt: float = 0.5
    slope_stiffness: float = 4.0
    offset_spread: float = 2.0

    gain: float = 4.0
    points_per_label: float = 100.0
    labels_at_hand: float = 10.0
    doubted_labels: float = 2.0
    directions_per_class: float = 10.0
    share_of_points: float = 0.1
    gentle_power: float = 2.0
    few_fading: float = 0.7
    sampled_points: int = 10_000
    rounds: int = 10
    last_rounds: int = 3
    sweeps: int = 10
    still: float = 1e-3
    label_trust: float = 2.0
    smoothing_per_class: float = 0.5

    clear: float = 0.2
    worth: float = 0.97
    split_directions: int = 3
    split_pairs: int = 3
    resplits: int = 6
    split_rounds: int = 20


DEFAULT = Rule()
