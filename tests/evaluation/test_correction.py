import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.evaluation.paired import holm

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_worked_example():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


@given(VALUES)
def test_lies_between_no_correction_and_bonferroni(values):
    p, adjusted = np.array(values), holm(values)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, len(p) * p) + 1e-15).all()


@given(VALUES)
def test_keeps_the_order(values):
    order = np.argsort(values, kind="stable")
    assert (np.diff(holm(values)[order]) >= 0).all()


def test_what_was_not_tested_is_not_counted():
    np.testing.assert_allclose(holm([0.02, np.nan, 0.03]), [0.04, np.nan, 0.04])


def test_what_is_no_probability_is_refused():
    with pytest.raises(ValueError, match="p values must be between 0 and 1"):
        holm([0.5, 1.5])
