import math

from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.problems import Trial
from audioclass.storage import Store
from audioclass.training.stored_selection import Selected, restored

CHOSEN = [
    Selected(Gaussian(0.1 + 0.2), 1 / 3, (Trial({"sigma": 2.0}, 0.7), Trial({"sigma": 3.0}, math.nan)), "a note", 0.5),
    Selected(Linear(), 10.0),
]


def test_a_choice_comes_back_to_the_bit(tmp_path):
    kernels = (Gaussian(), Linear())
    first = restored(Store(tmp_path), lambda: "key", kernels, lambda: list(CHOSEN))
    again = restored(Store(tmp_path), lambda: "key", kernels, lambda: 1 / 0)
    assert repr(first) == repr(again) == repr(CHOSEN)  # repr, for NaN is not itself


def test_without_a_store_it_is_made_each_time():
    assert restored(None, lambda: 1 / 0, (), lambda: CHOSEN) is CHOSEN


def test_a_kernel_of_an_unknown_class_is_not_kept(tmp_path):
    made = []
    for _ in range(2):
        found = restored(Store(tmp_path), lambda: "key", (Linear(),), lambda: made.append(1) or list(CHOSEN))
        assert found[0].kernel == Gaussian(0.1 + 0.2)
    assert len(made) == 2
