"""Every choice of the default for few labels, in one place.

Figures behind the choices: docs/few_labels.md. Limits of work, memory and precision are
not choices; they stand where they are used, with "Limit of" before them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """The choices of `KernelPool`, `AutoKernel` and `LeaveOneOutRLS`, stage by stage.

    Parameters
    ----------
    graphs : tuple of int
        Neighbours per point of the graphs in the pool. Nobody knows beforehand which
        suits the data. Over 78 sets 3 and 20 are 0.5 +- 0.1 points better than 3 and
        10 (1.0 with one label per class), among 20,000 overlapping Gaussians 4; 3 and
        30, or a third graph, are no better.
    nearest_anchors : tuple of int
        Anchors per point of the anchor graphs, which replace `graphs` among many
        points. With 5 in place of 10 overlapping Gaussians lose up to 6 points.
    view_graphs, view_anchors : tuple of int
        The same for each of several views. On four sets of texts with embeddings and
        words one graph per view was 0.3 points better than three.
    directions, fewest_directions, class_directions : int
        Directions per graph and of the linear kernel: at most, at least, and per class.
        50 serve 10 classes as well as 150 do; 150 serve some 30.
    density_neighbor : int
        The density at a point is minus the logarithm of the distance to this
        neighbour.
    even_columns : float
        Columns that share the variance less evenly than this (`units.evenness`) are
        divided by their standard deviations: they come in mixed units. Over 26 tables
        2.7 points better than never, 0.5 better than always, and within 0.9 of always
        on each.
    unrelated_columns, unrelated_within : int, float
        At least this many columns whose correlations have a root mean square of at most
        this many times 1 / sqrt(n) are related by chance alone, and not divided. Of the
        real data sets in mixed units (`benchmarks/collection`) none is below 1.4.
    many_parts, alike_sums : int, float
        At least this many columns that are not negative, and whose sum varies less than
        this share of what it would vary if they were unrelated, are shares of a whole.
        Oils have 0.001, glass 0.002, bank notes, whose lengths sum up to nearly the
        same, 0.5. Few parts are divided by their deviations as others are: square
        roots gain 1.6 points on oils (7 parts) and lose 2.8 on glass (9).
    far_share, drift_chance : float
        Added rows in a place less dense than this share of the fitted points are far.
        The basis is made again if the chance of as many far rows is below the second.
    steepness : float
        Power q of the spectral weights (tau / (gamma + tau))^q of a graph kernel, whose
        effective rank is the number of classes.
    powers : tuple of float
        Powers of the spectrum of the linear kernel, which share its prior. Squared, it
        sees large structure only, as few labels of texts ask for (3 sets +3 points); 1
        finds classes in directions of small variance (faces of ten people +13).
    flat_prior : float
        Prior of the linear kernel and of the density; that of a graph is 1.
    ridges : tuple of float
        Strengths of the ridge, for kernels of unit variance. A third, 10, changed
        nothing; 1 alone loses where columns outnumber rows (gene expression 78 -> 54).
    added_label : float
        Added to the number of labels of a class before its share is taken.
    usual_slope, slopes : float, tuple of float
        Before labels are seen, scores of unit deviation have a softmax of the first
        times log C as slope: with the same slope for all numbers of classes, those of
        two were too sure by 7 points with one label per class and those of nine and
        more too unsure by 22. Held-out scores are judged at multiples of it.
    slope_doubt, doubt_fades : float
        Weight of log^2 of the multiple against the log-loss, which halves with this
        many held-out labels.
    slope_stiffness, offset_spread : float
        The calibration pays s/2 (a - 1)^2 for its slope a, and |c - c0|^2 / (2 t^2)
        for its offsets, which start from the log-shares of the labels. (Half way to the
        regression's own offsets was 0.5 +- 0.1 points of balanced accuracy worse.)
    trees : int
        Random trees grown on the labelled points, where the points have columns; 0 for
        none. 25 trees are worth 0.2 to 0.6 points less than 100.
    tree_tries : float
        Columns that a node of a tree tries, as a power of their number: 0.5 is the
        square root, 1 all of them.
    tree_share : float
        Weight of the trees' scores against those of the kernel, for many labels per
        class; with l labels of C classes it is this times 1 - C / l. With one label per
        class trees gain a point on unseen tables and lose two on digits of uspst and
        1.3 on wine.
    tree_doubt : float
        Labels without a class that are added before the logarithm of the trees' votes.
    tree_centring : float
        How far the mean of these over all points is moved to that of the label shares.
        Not at all: 0.5 points of balanced accuracy lost; wholly: 0.3 of accuracy.
    label_trust : float
        Label shares weigh at most u = min(1, t C / l) against predicted shares.
    most_moved : float
        Sizes like those of the labels move at most this share of the points to other
        classes. Where classes are 99:1 or 19:1 even sizes cut the large one in two,
        which explains more than 0.8 of a cloud, and nearly all of a line: 15 such draws
        of 105 lost 15 to 49 points without this bound and `clear`, at most 8 with them.
        Of the 1.1 points that the sizes are worth on digits 1.0 are left, of 1.5 on
        circles all.
    labels_for_sizes : float
        With this many held-out labels per class, points say as much about the class
        shares as equal numbers of labels do. On 16 sets of 1,600 to 20,000 points with
        5 to 100 labels per class +1.8 +- 0.7 points (balanced accuracy -0.7 +- 0.2) and
        log-loss -0.05 +- 0.02, at worst -2.5 points in a draw; with 7 in place of 15
        +2.5 +- 1.1, at worst -10.6. On 37 sets of 600 points +0.09 +- 0.06.
    gain, skill_power : float
        How much of a decision is spread, in units of the scores' own size, times the
        skill of the kernel to this power. Over 19 sets of 1,600 to 20,000 points the
        fourth power gains 0.5 +- 0.3 points compared with the first, Covertype 3; the
        square gains 0.4.
    points_per_label : float
        Spreading fades by n / (n + p l) among few points or with many labels.
    doubted_labels : float
        Labels added to those held out when the skill is taken. As many errors are added
        as the share of the decision that the kernel does not explain.
    directions_per_class, share_of_points : float
        Degrees of freedom of the regression that spreads: this many per class, at most
        this share of the points.
    sampled_points : int
        Points on which divisions are looked for; the last rounds use all that are seen.
    seen_points : int
        Points on which the decision is made: of more, some are drawn (`seen_points`).
    clear : float
        Classes that leave more than this share unexplained are not clear clusters. Only
        among clear clusters does what is left unexplained tell good class sizes from
        bad ones: over 442 draws on unseen data it did no better than the predicted
        sizes and lost up to 54 points. With 0.2 sizes of labels lost 14 points in one
        draw of 1,960; 0.1 divides far clusters that no label names.
    sureness : float
        Scores are multiplied by this where held-out labels might as well be guessed, by
        1 where all are known (`gain.sureness`). On 114 sets of the three collections
        the mean confidence with one label per class to a hundred at random is then -3
        to +2 points above the accuracy, with 1 -2 to +5; with 1 and a slope of 0.6 for
        all numbers of classes 0 to +6, log-loss 0.788 in place of 0.775. The loss of
        half of the sets chooses 0.7, of 0.7, 0.8 and 1, in 193 of 200 divisions.
    worth : float
        A new division, or other class sizes, leave at most this share of what the old
        ones left. With 0.97, 3 of 1,201 draws on unseen data lost more than 10 points;
        0.8 loses 0.2 points on clear clusters.
    split_directions, split_pairs : int
        Principal directions and pairs of classes that are tried for a new division.
    resplits : int
        New divisions at most.
    """

    # The pool: `pools`, and `model.growth` for rows that join it.
    graphs: tuple[int, ...] = (3, 20)
    nearest_anchors: tuple[int, ...] = (3, 10)
    view_graphs: tuple[int, ...] = (10,)
    view_anchors: tuple[int, ...] = (5,)
    directions: int = 150
    fewest_directions: int = 50
    class_directions: int = 5
    density_neighbor: int = 10
    even_columns: float = 0.4
    unrelated_columns: int = 5
    unrelated_within: float = 1.3
    many_parts: int = 20
    alike_sums: float = 0.02
    far_share: float = 0.01
    drift_chance: float = 1e-3

    # Weights of its kernels: `weigh`.
    steepness: float = 5.0
    powers: tuple[float, ...] = (1.0, 2.0)
    flat_prior: float = 0.2

    # Regression and calibration: `ridge`, `centred`.
    ridges: tuple[float, ...] = (0.1, 1.0)
    added_label: float = 1.0
    slopes: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    usual_slope: float = 0.45
    slope_doubt: float = 3.0
    doubt_fades: float = 12.0
    slope_stiffness: float = 4.0
    offset_spread: float = 2.0

    # Trees: `opinion`.
    trees: int = 100
    tree_tries: float = 0.5
    tree_share: float = 0.5
    tree_doubt: float = 2.0
    tree_centring: float = 0.5

    # Class sizes: `sizes`, `shift`.
    label_trust: float = 2.0
    most_moved: float = 0.08
    labels_for_sizes: float = 15.0

    # Spreading: `spreading`.
    gain: float = 4.0
    skill_power: float = 4.0
    points_per_label: float = 100.0
    doubted_labels: float = 2.0
    directions_per_class: float = 10.0
    share_of_points: float = 0.1
    sampled_points: int = 10_000
    seen_points: int = 25_000

    # Clear clusters and new divisions of them: `partition`.
    clear: float = 0.15
    sureness: float = 0.7
    worth: float = 0.9
    split_directions: int = 3
    split_pairs: int = 3
    resplits: int = 6


DEFAULT = Rule()
