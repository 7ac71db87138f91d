import numpy as np
import pytest
from audioclass_lab.ledger import Ledger
from audioclass_lab.surfaces import RESOLUTION, checkerboard, curve, surfaces
from audioclass_lab.sweeps import Sides, sweep_error_factor, sweep_sigma

from audioclass.criteria.alignment import AlignmentC
from audioclass.criteria.errors import ExactLeaveOneOut
from audioclass.criteria.held_out import LeaveOneOutLogLoss
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.run import silent
from audioclass.training.objective import joachims_error_factor


@pytest.fixture
def sides():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0.3, 1, -1)
    return Sides(X, y, np.arange(30), "thirty")


def test_a_sweep_of_C_marks_joachims_value_and_the_least_error(sides):
    rows, summary = sweep_error_factor(sides, Gaussian(), [0.01, 1.0, 100.0], Ledger(), silent)
    assert [row["C"] for row in rows] == [0.01, 1.0, 100.0]
    assert summary["joachims"] == pytest.approx(joachims_error_factor(Gaussian(), sides.X))
    assert summary["best_leave_one_out"] == min(row["leave_one_out"] for row in rows)
    minority = min((sides.y > 0).sum(), (sides.y < 0).sum())
    assert rows[0]["support_vectors"] >= 2 * minority / 30
    assert all(row["leave_one_out"] >= row["training_error"] for row in rows)
    assert max(row["relative_time"] for row in rows) <= 1


def test_machines_that_do_not_converge_have_no_error(sides):
    rng = np.random.default_rng(0)
    hopeless = Sides(1e4 * rng.normal(size=(40, 1)), np.tile([1, -1], 20), np.arange(40), "hopeless")
    from audioclass.trainers import libsvm

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(libsvm, "STEPS", (10, 10))
        rows, summary = sweep_error_factor(hopeless, Linear(), [1e6], Ledger(), silent)
    assert rows[0]["leave_one_out"] is None
    assert summary["best"] is None


def test_a_sweep_of_sigma_says_what_each_criterion_chooses(sides):
    criteria = [ExactLeaveOneOut(), AlignmentC(), LeaveOneOutLogLoss()]
    found = sweep_sigma(sides, Gaussian(), [0.1, 1.0, 10.0], criteria, 1.0, Ledger(), silent)
    values = {row["sigma"]: row["alignment_c"] for row in found.rows}
    [alignment] = [one for one in found.chosen if one["criterion"] == "alignment_c"]
    assert values[alignment["sigma"]] == max(values.values())
    errors = {row["sigma"]: row["exact_leave_one_out"] for row in found.rows}
    assert alignment["leave_one_out"] == errors[alignment["sigma"]]


def test_joachims_value_is_that_of_each_sigma(sides):
    found = sweep_sigma(sides, Gaussian(), [0.5, 5.0], [AlignmentC()], None, Ledger(), silent)
    assert [row["C"] for row in found.rows] == [joachims_error_factor(Gaussian(s), sides.X) for s in (0.5, 5.0)]


def test_a_sweep_that_was_killed_goes_on_where_it_stopped(sides, tmp_path):
    def stopping(stage, done, total):
        if done == 2:
            raise KeyboardInterrupt

    arguments = (sides, Gaussian(), [0.5, 1.0, 2.0], [AlignmentC()], 1.0)
    with pytest.raises(KeyboardInterrupt):
        sweep_sigma(*arguments, Ledger(tmp_path / "l.jsonl"), stopping)
    assert len(Ledger(tmp_path / "l.jsonl")) == 2
    again = sweep_sigma(*arguments, Ledger(tmp_path / "l.jsonl"), silent)
    values = [row["alignment_c"] for row in again.rows]
    fresh = sweep_sigma(*arguments, Ledger(), silent)
    assert values == [row["alignment_c"] for row in fresh.rows]


def test_a_criterion_that_fails_everywhere_chooses_nothing(sides):
    one_group = Sides(sides.X, sides.y, np.zeros(30), "one group")
    from audioclass.criteria.held_out import LeaveGroupOutLogLoss

    found = sweep_sigma(one_group, Gaussian(), [0.5, 1.0], [LeaveGroupOutLogLoss()], 1.0, Ledger(), silent)
    assert found.chosen[0]["sigma"] is None
    assert [row["leave_group_out_log_loss"] for row in found.rows] == [None, None]


def test_the_checkerboard_is_one():
    X, y = checkerboard(500, np.random.default_rng(0))
    cells = np.floor(3 * X).astype(int)
    assert set(y) == {-1, 1}
    np.testing.assert_array_equal(y, np.where((cells[:, 0] + cells[:, 1]) % 2, 1, -1))


def test_the_curve_has_its_wrong_labels():
    X, y = curve(100, np.random.default_rng(0))
    clean = np.where(X[:, 1] > 0.5 + 0.25 * np.sin(2 * np.pi * X[:, 0]), 1, -1)
    assert (y != clean).sum() == 8


def test_surfaces_are_scores_over_the_square(tmp_path):
    X, y = checkerboard(40, np.random.default_rng(0))
    ledger = Ledger(tmp_path / "l.jsonl")
    found = surfaces(X, y, [0.2, 1.0], [100.0], ledger, silent)
    assert [surface.sigma for surface in found] == [0.2, 1.0]
    assert found[0].scores.shape == (RESOLUTION, RESOLUTION)
    nearest = found[0].scores[tuple(np.rint((RESOLUTION - 1) * X[:, ::-1]).astype(int).T)]
    assert np.mean(np.sign(nearest) == y) > 0.9
    again = surfaces(X, y, [0.2], [100.0], Ledger(tmp_path / "l.jsonl"), silent)
    np.testing.assert_array_equal(again[0].scores, found[0].scores)
