"""The normalisation of a training: stated, or chosen between ranks and waves of them on held-out groups."""

import numpy as np
import pytest
from trainings import make_config

from audioclass.kernels.linear import Linear
from audioclass.training.normalising import choose_normalisation

FEATURE_GROUPS = ("a",) * 150 + ("b",) * 150


def rows(n=120, seed=0):
    """Three labels, each of a wider spread in its own third of the features; two rows to a source."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) // 2 % 3
    spread = np.where(np.arange(len(FEATURE_GROUPS)) % 3 == y[:, None], 1.5, 1.0)
    return rng.standard_normal((n, len(FEATURE_GROUPS))) * spread, y, np.arange(n) // 2


def chosen(X, y, groups, config=None, feature_groups=FEATURE_GROUPS):
    config = config or make_config(normalisation="auto")
    weights = np.ones(len(y))
    return choose_normalisation(X, y, groups, config, sample_weights=weights, feature_groups=feature_groups)[0]


def test_waves_tell_what_is_usual_from_what_is_not():
    choice = chosen(*rows())
    assert choice.name == "waves"
    assert choice.losses["waves"] < 0.9 * choice.losses["rank"]
    assert "with rank" in str(choice)


def test_ranks_are_taken_where_they_are_clearly_better():
    """More and less alone tells these labels apart, of which waves have half."""
    rng = np.random.default_rng(1)
    y = np.arange(120) // 2 % 2
    X = rng.standard_normal((120, len(FEATURE_GROUPS))) + 0.15 * (2 * y[:, None] - 1)
    choice = chosen(X, y, np.arange(120) // 2)
    assert choice.name == "rank"
    assert choice.losses["rank"] < 0.97 * choice.losses["waves"]


@pytest.mark.parametrize("name", ["rank", "waves", "standard", "none"])
def test_what_is_stated_is_not_judged(name):
    choice = chosen(*rows(), make_config(normalisation=name))
    assert (choice.name, choice.losses) == (name, {})


def test_features_that_are_few_or_in_no_groups_are_ranked():
    X, y, groups = rows()
    assert chosen(X, y, groups, feature_groups=None).name == "rank"
    assert chosen(X[:, :9], y, groups, feature_groups=FEATURE_GROUPS[:9]).name == "rank"


def test_rows_of_few_sources_and_kernels_of_products_are_ranked():
    X, y, groups = rows()
    assert chosen(X, y, groups, make_config(normalisation="auto", kernels=(Linear(),))).name == "rank"
    assert chosen(X, y, groups % 12).name == "rank"
