import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.engine.config import Choices, component_of, kernels_of, said_of
from audioclass.errors import UsageError
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.plugins.manager import plugin_manager
from audioclass.strategies.dendrogram import HybridDendrogram
from audioclass.strategies.one_vs_one import OneVsOne

MANAGER = plugin_manager(installed=False)


def test_names_become_pieces(manager):
    method = Choices(strategy="one_vs_one", kernel="gaussian:sigma=2+linear", criterion="fixed").method(manager)
    assert method.strategy == OneVsOne()
    assert [kernel.name for kernel in method.kernels] == ["gaussian", "linear"]
    assert method.kernels[0] == Gaussian(sigma=2.0)
    assert method.selection is None
    assert not method.is_direct


def test_pieces_may_be_objects(manager):
    method = Choices(strategy=OneVsOne(), kernel=(Gaussian(2.0), Gaussian(3.0))).method(manager)
    assert method.kernels == (Gaussian(2.0), Gaussian(3.0))
    assert method.selection.criterion.name == "leave_group_out_log_loss"


def test_commas_in_lists_part_no_parameters(manager):
    assert component_of(manager, "strategy", "hybrid_dendrogram:cuts=[2,3],form=weighted") == HybridDendrogram(
        cuts=(2, 3), form="weighted"
    )


@given(st.floats(0.01, 100), st.sampled_from(["additive", "weighted"]), st.lists(st.integers(2, 9), max_size=3))
def test_a_piece_as_text_makes_it_again(sigma, form, cuts):
    for kind, component in (
        ("kernel", UnscaledGaussian(sigma)),
        ("strategy", HybridDendrogram(form=form, cuts=tuple(cuts))),
        ("strategy", OneVsOne()),
    ):
        assert component_of(MANAGER, kind, said_of(component)) == component


def test_plain_choices_come_back(manager):
    choices = Choices(strategy=OneVsOne(), kernel=(Gaussian(2.0), Gaussian(3.0)), C=3.0, seed=4)
    back = Choices.of(choices.to_plain())
    assert back.method(manager).kernels == choices.method(manager).kernels
    assert (back.C, back.seed) == (3.0, 4)
    assert back.to_plain() == choices.to_plain()


def test_kernels_that_compete():
    assert kernels_of("a+b") == ["a", "b"]
    assert kernels_of(["a"]) == ["a"]
    assert kernels_of(Gaussian()) == [Gaussian()]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"kernl": "gaussian"}, r"mine\.toml: unknown choice 'kernl'; did you mean 'kernel'\?"),
        ({"kernel": 3}, r"mine\.toml: kernel=3 must be a str"),
        ({"C": "3"}, r"mine\.toml: C='3' must be a float"),
        ({"C": -1.0}, "C=-1.0 must be positive and finite"),
        ({"folds": 1}, "folds=1 must be at least 2"),
        ({"seed": -1}, "seed=-1 must be at least 0"),
        ({"normalisation": "ranks"}, "unknown normalisation 'ranks'; did you mean 'rank'"),
    ],
)
def test_wrong_choices_are_one_line(said, message):
    with pytest.raises(UsageError, match=message):
        Choices.of(said, "mine.toml")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"strategy": "one_vs_on"}, "unknown strategy 'one_vs_on'; did you mean 'one_vs_one'"),
        ({"kernel": "gaussian:sigm=2"}, "unknown parameter of gaussian 'sigm'; did you mean 'sigma'"),
        ({"kernel": "gaussian:sigma"}, "'sigma' must be NAME=VALUE"),
        ({"kernel": "gaussian:sigma=-1"}, "gaussian: sigma=-1.0 must be positive"),
        ({"trainer": 3}, "trainer=3 must be a name or a Trainer, not a int"),
        ({"search": "patern"}, "unknown search 'patern'; did you mean 'pattern'"),
    ],
)
def test_wrong_pieces_are_one_line(choice, message, manager):
    with pytest.raises(UsageError, match=message):
        Choices(**choice).method(manager)


def test_groups_of_features_are_weighed_only_where_asked_for(manager):
    assert Choices().method(manager, ("a", "b")).selection.column_groups == ()
    assert Choices(weigh_groups=True).method(manager, ("a", "b")).selection.column_groups == ("a", "b")
