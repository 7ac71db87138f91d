import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.problems import Axis, Dichotomy, Geometry, LabelTask, Machine, Members, Plan, Task


def task(**changes):
    given = {"y": np.array([1, -1]), "C": 1.0, "weights": np.ones(2), "rng": np.random.default_rng(0), "K": np.eye(2)}
    return Task(**given | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.array([1, 1])}, "must hold both -1 and \\+1"),
        ({"y": np.array([]), "weights": np.array([]), "K": np.empty((0, 0))}, "y is empty"),
        ({"C": 0.0}, "C=0.0 must be positive"),
        ({"C": float("nan")}, "must be positive"),
        ({"K": None}, "one of a Gram matrix K, its entries, or features X"),
        ({"X": np.eye(2)}, "one of a Gram matrix K, its entries, or features X"),
        ({"K": np.ones((2, 3))}, r"K has shape \(2, 3\) for 2 examples"),
        ({"K": None, "X": np.ones((3, 1))}, r"X has shape \(3, 1\) for 2 examples"),
        ({"K": np.full((2, 2), np.nan)}, "K holds NaN"),
        ({"weights": np.array([1.0, -1.0])}, "weights must be at least 0"),
        ({"weights": np.ones(3)}, "weights has shape"),
    ],
)
def test_wrong_tasks_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        task(**changes)


def test_what_a_task_holds_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        task().K[0, 0] = 2


def test_every_label_needs_an_example():
    with pytest.raises(ValueError, match="must hold every label from 0 to 2"):
        LabelTask(np.array([0, 1]), 3, 1.0, np.ones(2), np.random.default_rng(0), K=np.eye(2))


@pytest.mark.parametrize(
    ("sides", "message"), [(((), (1,)), "a side is empty"), (((0, 1), (1,)), "a label is on both sides")]
)
def test_wrong_dichotomies_are_refused(sides, message):
    with pytest.raises(ValueError, match=message):
        Dichotomy(*sides)


def test_geometry_of_a_linear_kernel_is_that_of_the_points():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [5.0, 1.0], [5.0, 3.0]])
    geometry = Geometry.of_gram(X @ X.T, np.array([0, 0, 1, 1]), 2)
    assert geometry.counts.tolist() == [2, 2]
    np.testing.assert_allclose(geometry.squared_distances, [[0, 20], [20, 0]])  # centres (1, 0) and (5, 2)
    np.testing.assert_allclose(geometry.scatter, [1, 1])


def test_geometry_needs_an_example_of_each_label():
    with pytest.raises(ValueError, match="label 1 has no example"):
        Geometry.of_gram(np.eye(2), np.array([0, 0]), 2)


@given(st.floats(1e-3, 1e3), st.floats(1.01, 1e3), st.floats(0, 1), st.sampled_from(["linear", "log"]))
def test_an_axis_stays_inside_and_can_be_inverted(low, factor, fraction, scale):
    axis = Axis("sigma", low, low * factor, scale)
    value = axis.at(fraction)
    assert axis.low <= value <= axis.high
    assert axis.fraction(value) == pytest.approx(fraction, abs=1e-6)


@pytest.mark.parametrize("axis", [("a", 1.0, 1.0, "linear"), ("a", 0.0, 1.0, "log")])
def test_wrong_axes_are_refused(axis):
    with pytest.raises(ValueError, match="must be"):
        Axis(*axis)


def test_scores_read_support_columns_only():
    machine = Machine(np.array([2, 0]), np.array([1.0, -2.0]), 0.5)
    assert machine.scores(np.array([[3.0, 99.0, 7.0]])).tolist() == [7.0 - 6.0 + 0.5]


def test_a_smaller_plan_is_found_in_its_plan():
    pairs = [Dichotomy((0,), (1,)), Dichotomy((0,), (2,)), Dichotomy((1,), (2,))]
    plan = Plan(3, tuple(pairs))
    assert plan.places(Plan(3, (pairs[2], pairs[0]))) == [2, 0]
    with pytest.raises(ValueError, match="dichotomy \\(2,\\) against \\(0,\\) is not in the plan"):
        plan.places(Plan(3, (Dichotomy((2,), (0,)),)))


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("score", [(2 * 1.5 + 1 - 0.5) / 2, (2 * 0.5 + 1 - 1.0) / 2]),
        ("vote", [0.0, 0.0]),
        (
            "probability",
            [1 / (1 + np.exp(-4)) + 1 / (1 + np.exp(0.5)) - 1, 1 / (1 + np.exp(-2)) + 1 / (1 + np.exp(1)) - 1],
        ),
    ],
)
def test_members_are_combined_by_hand(link, expected):
    """Scores 1.5 and -0.5 of the first row, 0.5 and -1 of the second; the first member has slope 2 and offset 1."""
    members = Members(link, np.array([2.0, 1.0]), np.array([1.0, 0.0]))
    machine = Machine(np.array([0, 2]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.0]), members)
    scores = machine.scores(np.array([[1.0, 9.0, -0.5], [0.0, 9.0, -1.0]]))
    np.testing.assert_allclose(scores, expected)


def test_each_machine_has_the_members_from_its_start_on():
    members = Members.plain("vote", 4)
    scores = np.array([[0.1, -2.0, 3.0, 4.0], [-0.1, 0.0, -3.0, -4.0]])
    assert members.combine(scores, np.array([0, 3])).round(6).tolist() == [[0.333333, 1.0], [-0.666667, -1.0]]


def test_members_sure_beyond_what_exp_can_say_are_sure():
    sure = Members.plain("probability", 2).combine(np.array([[1e300, 1e300], [-1e300, -1e300]]), np.array([0]))
    assert sure.tolist() == [[1.0], [-1.0]]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (("product", np.ones(2), np.zeros(2)), "link 'product' of members must be score, vote, probability"),
        (("vote", np.ones(2), np.zeros(3)), r"offsets of members have shape \(3,\)"),
        (("vote", np.ones((2, 1)), np.zeros(2)), r"slopes of members have shape \(2, 1\)"),
        (("vote", np.ones(0), np.zeros(0)), r"slopes of members have shape \(0,\)"),
        (("vote", np.array([1.0, np.nan]), np.zeros(2)), "slopes of members hold NaN"),
        (("vote", np.ones(2), np.array([0, np.inf])), "offsets of members hold NaN or infinite"),
        (("vote", np.array([1.0, -1.0]), np.zeros(2)), "slopes of members must be at least 0, one is -1"),
    ],
)
def test_wrong_members_are_refused(members, message):
    with pytest.raises(ValueError, match=message):
        Members(*members)


@pytest.mark.parametrize(("coefficients", "intercept"), [(np.ones(4), np.zeros(2)), (np.ones((4, 2)), 0.0)])
def test_a_machine_has_a_column_for_each_member(coefficients, intercept):
    with pytest.raises(ValueError, match="for 2 members on 4 rows"):
        Machine(np.arange(4), coefficients, intercept, Members.plain("vote", 2))
