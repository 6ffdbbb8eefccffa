"""What may be meant in two ways is asked about, before anything is computed."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigvalsh
from sklearn.datasets import make_blobs

from mercer import UnifiedKernelMachine
from mercer.evidence.labels import Labels
from mercer.learners.pair_classifier import PairClassifier
from mercer.spectrum.graph import GraphBasis

X, TRUTH = make_blobs(40, centers=2, random_state=0)
Y = np.where(np.arange(40) < 10, TRUTH, -1)


@pytest.mark.parametrize("kind", [int, bool])
def test_a_matrix_of_0_and_1_is_not_read_as_class_shares(kind: type) -> None:
    matrix = np.eye(2, dtype=kind)[TRUTH]
    with pytest.raises(ValueError, match="multilabel"):
        UnifiedKernelMachine().fit(X, matrix)
    shares = Labels.read(matrix.astype(float))
    assert shares.codes.tolist() == TRUTH.tolist()


@pytest.mark.parametrize(
    ("weight", "word"), [(10.0, "surer"), (1.02, "surer"), (0.09, "less sure")]
)
def test_weights_that_change_the_number_of_labels_are_told(
    weight: float, word: str
) -> None:
    with pytest.warns(UserWarning, match=f"makes the model {word}"):
        UnifiedKernelMachine(random_state=0).fit(
            X, Y, sample_weight=np.full(40, weight)
        )


@pytest.mark.parametrize("weight", [0.11, 0.5, 1.0, 1.005])
def test_relative_weights_and_doubt_are_not_told(weight: float) -> None:
    labels = Labels.read(Y, weights=np.full(40, weight))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels.warn_of_weights()


def test_numbers_of_answers_are_not_told() -> None:
    labels = Labels.read(np.eye(2)[TRUTH], weights=np.full(40, 5.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels.warn_of_weights()


def test_weights_beyond_precision_are_refused() -> None:
    with pytest.raises(ValueError, match="Divide the weights by their mean"):
        UnifiedKernelMachine().fit(X, Y, sample_weight=np.full(40, 1e15))


def test_rows_of_the_same_name_are_not_asked_about() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, index=np.repeat(np.arange(20), 2))
    model = UnifiedKernelMachine(random_state=0).fit(frame, Y)
    assert model.predict(frame[:3]).shape == (3,)
    with pytest.raises(ValueError, match="not unique"):
        model.ask()


def test_infinite_labels_are_refused_in_the_words_of_scikit_learn() -> None:
    y = np.where(Y == 0, np.inf, Y)
    with pytest.raises(ValueError, match="Input y contains infinity or a value too"):
        UnifiedKernelMachine().fit(X, y)


def test_a_threshold_is_a_number() -> None:
    pairs, same = [[0, 1], [2, 3], [4, 5], [6, 7]], [1, -1, 1, -1]
    model = PairClassifier(preprocessor=X, random_state=0).fit(pairs, same)
    with pytest.raises(ValueError, match="threshold is NaN"):
        model.set_threshold(np.nan)
    assert (model.set_threshold(np.inf).predict(pairs) == 1).all()
    assert (model.set_threshold(-np.inf).predict(pairs) == -1).all()


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("weight", [1e-6, 1e15])
def test_complete_graphs_of_any_weight_have_their_eigenvalues(
    n: int, weight: float
) -> None:
    """LAPACK ended with "Internal Error." among so many equal eigenvalues."""
    W = weight * (np.ones((n, n)) - np.eye(n))
    basis = GraphBasis(None, laplacian="combinatorial", affinity="precomputed").fit(W)
    L = np.diag(W.sum(axis=0)) - W
    oracle = eigvalsh(L, driver="ev")
    np.testing.assert_allclose(basis.values_, oracle, atol=1e-6 * weight)
