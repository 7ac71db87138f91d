import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audioclass.problems import FeatureMachine, Machine, Members
from audioclass.storage import Store
from audioclass.training.results import FitResult, arrays_of, results_of

SCORES = st.none() | st.lists(st.floats(), min_size=1, max_size=4).map(np.array)


@st.composite
def machines(draw):
    """No machine, one over rows with one output or two, one of members, or one of named arrays."""
    kind, n = draw(st.sampled_from(["none", "one", "two", "members", "features"])), draw(st.integers(0, 4))
    if kind == "none":
        return None
    if kind == "features":
        return FeatureMachine({"scores": np.arange(n), "slope_2": np.array(0.5)})
    shape, intercept = ((n,), 0.25) if kind == "one" else ((n, 2), np.array([0.5, -1]))
    link = draw(st.sampled_from(["score", "vote", "probability"]))
    members = Members(link, np.array([1.5, 2]), np.array([0.1, -3])) if kind == "members" else None
    return Machine(np.arange(n), np.random.default_rng(n).normal(size=shape), intercept, members)


results = st.builds(FitResult, machines(), SCORES)


def plain(result):
    """A result as values that compare to the bit."""
    machine = result.machine
    arrays = {} if machine is None else machine.arrays if isinstance(machine, FeatureMachine) else vars(machine)
    parts = [*arrays.items(), ("held out", result.scores)]
    members = arrays.get("members")
    if members is not None:
        parts = [part for part in parts if part[1] is not members] + list(vars(members).items())
    named = {name: np.asarray(array) for name, array in parts if array is not None}
    return type(machine), {name: (a.shape, a.dtype, a.tobytes()) for name, a in named.items()}


@given(st.lists(results, max_size=4))
def test_results_come_back_to_the_bit(given_results):
    assert [plain(r) for r in results_of(arrays_of(given_results))] == [plain(r) for r in given_results]


def test_they_come_back_from_a_store_too(tmp_path):
    one = FitResult(Machine(np.array([1, 4]), np.array([0.1, -0.1]), 0.3), np.array([np.nan, 1.0]))
    other = FitResult(None, np.array([0.5]))
    for _ in range(2):
        arrays = Store(tmp_path).computed("key", lambda: arrays_of([one, other]))
        assert [plain(result) for result in results_of(arrays)] == [plain(one), plain(other)]
