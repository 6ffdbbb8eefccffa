import numpy as np
import pytest
from scipy.stats import beta

from mercer.evidence.sources import Sources
from mercer.evidence.weighing import weigh_sources
from mercer.judging.sources import _interval, report_sources


def wilson(mean, n):
    z = 1.959964
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


def test_the_interval_is_that_of_the_formula_by_hand():
    """Twice the variance of beliefs, what views differ by, and at most 2,000 votes."""
    views = np.repeat([[0.95, 0.1], [0.9, 0.2], [0.9, 0.4]], [80, 20], axis=1)
    none = np.zeros(100, bool)
    means = np.array([0.78, 0.76, 0.80])
    doubt = np.array([80 * 0.0475 + 20 * 0.09, 80 * 0.09 + 20 * 0.16])
    doubt = np.append(doubt, 80 * 0.09 + 20 * 0.24)
    variance = means.var()
    known = 1 - doubt / (100 * means * (1 - means) + 0.64)
    assert known.min() > 0.1
    for is_rule, lost, most in ((False, 1 / known, 2000), (True, 1.0, 16)):
        of_beliefs = 2 * np.mean(doubt * lost) / 100**2
        n = 1 / ((of_beliefs + variance) / (0.78 * 0.22) + 1 / most)
        low, high = _interval(views, none, is_rule=is_rule)
        assert wilson(0.78, n)[0] - 0.01 <= low <= wilson(0.78, n)[0]
        assert wilson(0.78, n)[1] <= high <= wilson(0.78, n)[1] + 0.01


def test_of_a_source_nothing_is_known_of_at_least_a_tenth_is():
    low, high = _interval(np.full((1, 100), 0.8), np.zeros(100, bool), is_rule=False)
    n = 1 / (2 * 0.16 / 0.1 / 100 / 0.16 + 1 / 2000)
    assert wilson(0.8, n)[0] - 0.01 <= low <= wilson(0.8, n)[0]
    assert wilson(0.8, n)[1] <= high <= wilson(0.8, n)[1] + 0.01


def test_votes_on_true_labels_are_known():
    right = np.repeat([[1.0, 0.95]], 50, axis=1)
    checked = np.arange(100) < 50
    low, high = _interval(right, checked, is_rule=False)
    assert 0.5 < low < 0.97 < high <= 1.0
    assert _interval(right[:, :50], checked[:50], is_rule=False) == (1.0, 1.0)


@pytest.mark.parametrize("n", [20, 60, 200])
def test_what_beliefs_miss_is_missed_of_reliabilities(n):
    """Against the sum over all accuracies: beliefs alone have half of the variance."""
    rng = np.random.default_rng(0)
    grid = np.linspace(0.0005, 0.9995, 1000)
    now, exact, beliefs = [], [], []
    for _ in range(20):
        y = rng.integers(0, 2, n)
        p = rng.beta(2, 2, n)  # of class 1, as sure as it should be
        y = (rng.random(n) < p).astype(int)
        votes = np.where(rng.random(n) < 0.8, y, 1 - y)
        agree = np.where(votes == 1, p, 1 - p)
        # r if the accuracy is a, and the evidence of a
        chance = grid[:, None] * agree, (1 - grid)[:, None] * (1 - agree)
        r = chance[0] / (chance[0] + chance[1])
        log = np.log(chance[0] + chance[1]).sum(axis=1) + beta.logpdf(grid, 3.2, 0.8)
        weight = np.exp(log - log.max())
        weight /= weight.sum()
        mean = weight @ r.mean(axis=1)
        spread = weight @ (r.mean(axis=1) - mean) ** 2
        exact.append(weight @ (r * (1 - r)).sum(axis=1) / n**2 + spread)
        r = r[np.searchsorted(grid, weight @ grid)]
        doubt, a = (r * (1 - r)).sum(), r.mean()
        beliefs.append(doubt / n**2)
        now.append(doubt / (1 - doubt / (n * a * (1 - a) + 0.64)) / n**2)
    assert np.mean(beliefs) < 0.6 * np.mean(exact)
    assert np.mean(now) == pytest.approx(np.mean(exact), rel=0.35)


def confirmed():
    """Return one good source, three that know nothing, and a kernel that agrees."""
    rng = np.random.default_rng(0)
    n = 300
    y = rng.integers(0, 2, n)
    good = np.where(rng.random(n) < 0.9, y, 1 - y)
    columns = {"good": good, **{f"weak {k}": rng.integers(0, 2, n) for k in range(3)}}
    said = np.where(rng.random(n) < 0.96, y, 1 - y)
    opinion = np.where(np.equal.outer(said, [0, 1]), 0.82, 0.18)
    codes, prior = np.full(n, -1), np.full((n, 2), np.log(0.5))
    return y, Sources.read(columns), codes, {"log_prior": prior, "opinion": opinion}


def test_a_kernel_that_learned_from_a_source_does_not_prove_it_right():
    """It agreed on 87% of the rows, as sure as if the source were always right."""
    y, sources, codes, known = confirmed()
    weighed = weigh_sources(sources, codes, **known)
    alone = report_sources(weighed, codes).sources[0]
    assert alone.low > 0.95  # of beliefs as they are
    found = report_sources(weighed, codes, **known).sources[0]
    good = np.asarray(sources.votes[:, :2].argmax(axis=1)).ravel() == y
    assert found.low <= np.mean(good) <= found.high
    assert found.high - found.low < 0.2


def test_the_kernel_may_be_half_and_twice_as_sure():
    _, sources, codes, known = confirmed()
    right = []
    for slope in (0.5, 1.0, 2.0):
        p = known["opinion"] ** slope
        p /= p.sum(axis=1, keepdims=True)
        other = weigh_sources(sources, codes, **{**known, "opinion": p})
        own = sources.votes[:, :2].toarray()
        right.append((own * other.beliefs).sum(axis=1).mean())
    weighed = weigh_sources(sources, codes, **known)
    found = report_sources(weighed, codes, **known).sources[0]
    assert np.ptp(right) > 0.01
    assert found.accuracy == pytest.approx(np.mean(right), abs=1e-3)
