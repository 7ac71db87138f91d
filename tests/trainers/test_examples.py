import numpy as np
import pytest

from audioclass.testing.blobs import binary_task, blobs, scores_of
from audioclass.trainers.examples import counted, gram_of
from audioclass.trainers.hard_margin import HardMargin
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.least_squares import LeastSquares
from audioclass.trainers.nystroem import Nystroem
from audioclass.trainers.svm import SVM
from audioclass.trainers.svr import SVR

X, LABELS = blobs()
Y = 1 - 2 * LABELS
TRAINERS = [SVM(), L2SVM(), HardMargin(), SVR(), LeastSquares(), Nystroem()]
by_name = pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: trainer.name)


@by_name
def test_a_side_without_weight_is_refused(trainer):
    task = binary_task(trainer.wants, X, Y, weights=np.tile([1.0, 0.0], 15))
    with pytest.raises(ValueError, match="y = -1 has no example of weight above 0, at least 1 is needed"):
        trainer.fit(task)


@by_name
def test_a_task_of_the_other_kind_is_refused(trainer):
    wanted = {"gram": "a Gram matrix K", "entries": "entries of the Gram matrix"}[trainer.wants]
    with pytest.raises(ValueError, match=f"this trainer wants {wanted}"):
        trainer.fit(binary_task("features", X, Y))


@by_name
@pytest.mark.parametrize("n_positive", [1, 14])
def test_one_example_a_side_is_enough(trainer, n_positive):
    rows = np.concatenate([np.flatnonzero(Y == 1)[:n_positive], np.flatnonzero(Y == -1)[: 15 - n_positive]])
    machine = trainer.fit(binary_task(trainer.wants, X[rows], Y[rows]))
    scores = scores_of(trainer, machine, X[rows], X[rows])
    assert (np.sign(scores) == Y[rows]).all()


@by_name
def test_single_precision_is_taken_and_fitted_in_double(trainer):
    task = binary_task(trainer.wants, X.astype(np.float32), Y)
    assert trainer.fit(task).coefficients.dtype == np.float64


def test_examples_of_weight_zero_do_not_count():
    weights = np.ones(30)
    weights[[0, 7]] = 0
    task = binary_task("gram", X, Y, weights=weights)
    rows = counted(task)
    assert rows.tolist() == [i for i in range(30) if i not in (0, 7)]
    np.testing.assert_array_equal(gram_of(task, rows), task.K[np.ix_(rows, rows)])


def test_the_whole_matrix_is_not_copied():
    task = binary_task("gram", X, Y)
    assert np.shares_memory(gram_of(task, counted(task)), task.K)
