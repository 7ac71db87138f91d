import json
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.plain import is_plain, toml_lines, toml_value

numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(blacklist_categories=["Cs"]))
values = st.recursive(
    st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, max_size=4))
def test_what_is_written_reads_back(table):
    assert tomllib.loads(toml_lines(table)) == table


@given(values)
def test_plain_values_survive_json(value):
    assert is_plain(value)
    assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize("value", [np.float64(1), np.ones(2), {1: 2}, float("nan"), object(), {"a": np.int64(1)}])
def test_other_values_are_not_plain(value):
    assert not is_plain(value)


def test_nothing_is_left_out_of_a_table():
    assert toml_lines({"a": None, "b": 1}) == "b = 1\n"
    assert toml_lines({"kernel": {"sigma": None, "name": "linear"}}) == 'kernel = { name = "linear" }\n'


def test_a_key_is_one_line_whatever_its_value():
    table = {"labels": ["a [", "b,\n]"], "kernel": {"name": "gaussian", "sigmas": [1.0, 2.0]}, "é": []}
    assert toml_lines(table) == (
        'labels = ["a [", "b,\\n]"]\nkernel = { name = "gaussian", sigmas = [1.0, 2.0] }\n"é" = []\n'
    )


def test_what_toml_cannot_say_is_refused():
    with pytest.raises(TypeError, match="not TOML serializable"):
        toml_value(object())
