import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audioclass.problems import FeatureMachine, Machine
from audioclass.storage import Store
from audioclass.training.results import answers_of, arrays_of

SCORES = st.none() | st.lists(st.floats(), min_size=1, max_size=4).map(np.array)


@st.composite
def machines(draw):
    """No machine, one over rows with one output or two, or one of named arrays."""
    kind, n = draw(st.sampled_from(["none", "one", "two", "features"])), draw(st.integers(0, 4))
    if kind == "none":
        return None
    if kind == "features":
        return FeatureMachine({"scores": np.arange(n), "slope_2": np.array(0.5)})
    shape, intercept = ((n,), 0.25) if kind == "one" else ((n, 2), np.array([0.5, -1]))
    return Machine(np.arange(n), np.random.default_rng(n).normal(size=shape), intercept)


answers = st.tuples(st.integers(0, 99), st.none() | st.integers(0, 9), machines(), SCORES)


def said(answer):
    """An answer as values that compare to the bit."""
    index, fold, machine, scores = answer
    arrays = {} if machine is None else machine.arrays if isinstance(machine, FeatureMachine) else vars(machine)
    parts = {name: np.asarray(array) for name, array in (*arrays.items(), ("held out", scores)) if array is not None}
    return index, fold, type(machine), {name: (a.shape, a.dtype, a.tobytes()) for name, a in parts.items()}


@given(st.lists(answers, max_size=4))
def test_answers_come_back_to_the_bit(given_answers):
    assert [said(answer) for answer in answers_of(arrays_of(given_answers))] == [said(a) for a in given_answers]


def test_they_come_back_from_a_store_too(tmp_path):
    one = (3, None, Machine(np.array([1, 4]), np.array([0.1, -0.1]), 0.3), np.array([np.nan, 1.0]))
    other = (3, 2, None, np.array([0.5]))
    for _ in range(2):
        kept = Store(tmp_path).computed("key", lambda: arrays_of([one, other]))
        assert [said(answer) for answer in answers_of(kept)] == [said(one), said(other)]
