from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import config, recipe, run

from audioclass.classifier.preprocessing import NORMALISATIONS
from audioclass.errors import UsageError
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.parameters import component_text
from audioclass.strategies.dendrogram import HybridDendrogram
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.taxonomy import Taxonomy
from audioclass.training.config import METHOD_OPTIONS, OPTIONS, TrainingConfig


def test_names_become_components():
    method = config(strategy="one_vs_one", kernel="gaussian:sigma=2+linear", criterion="fixed", recipe=None)
    assert method.strategy == OneVsOne()
    assert [kernel.name for kernel in method.kernels] == ["gaussian", "linear"]
    assert method.kernels[0] == Gaussian(sigma=2.0)
    assert method.criterion is None
    assert not method.is_direct


def test_components_may_be_objects():
    method = config(strategy=OneVsOne(), kernel=(Gaussian(2.0), Gaussian(3.0)), recipe=None)
    assert method.kernels == (Gaussian(2.0), Gaussian(3.0))
    assert method.criterion.name == "leave_group_out_log_loss"


def test_components_may_be_tables():
    method = config(
        strategy={"name": "hybrid_dendrogram", "form": "weighted", "cuts": [2, 3]},
        kernel=[{"name": "gaussian", "sigma": 2}, "linear"],
        search={"step": 0.5},
        recipe=None,
    )
    assert method.strategy == HybridDendrogram(form="weighted", cuts=(2, 3))
    assert [component_text(kernel) for kernel in method.kernels] == ["gaussian:sigma=2.0", "linear"]
    assert (method.search.name, method.search.step) == ("pattern", 0.5)  # a table without a name is the default's


def test_commas_in_lists_part_no_parameters():
    text = "hybrid_dendrogram:cuts=[2,3],form=weighted"
    assert run().component("strategy", text) == HybridDendrogram(cuts=(2, 3), form="weighted")


@given(st.floats(0.01, 100), st.sampled_from(["additive", "weighted"]), st.lists(st.integers(2, 9), max_size=3))
def test_a_component_as_text_makes_it_again(sigma, form, cuts):
    for kind, component in (
        ("kernel", UnscaledGaussian(sigma)),
        ("strategy", HybridDendrogram(form=form, cuts=tuple(cuts))),
        ("strategy", OneVsOne()),
    ):
        assert run().component(kind, component_text(component)) == component


def test_a_configuration_comes_back_from_its_plain_form():
    method = config(strategy=OneVsOne(), kernel=(Gaussian(2.0), Gaussian(3.0)), C=3.0, c_range=(1, 10), recipe=None)
    back = TrainingConfig.of({**method.to_plain(), "recipe": None}, run(), chosen=())
    assert back == method
    assert all(isinstance(value, (str, int, float)) for value in method.to_plain().values())


def test_what_somebody_chose_is_known_even_where_it_is_the_default():
    tree = Taxonomy.of(["a", "b"])
    assert config(recipe=None).guided_by(tree, run()).strategy.tree == "taxonomy"
    chosen = config(strategy="hybrid_dendrogram", recipe=None)
    assert chosen.guided_by(tree, run()) is chosen
    assert chosen.chosen == {"strategy", "recipe"}


def test_windows_of_the_recipe_are_those_that_are_stated():
    window, hop = (config(recipe="environment22", **stated).recipe for stated in ({"window": 2}, {"hop": 0.5}))
    assert (window.window, hop.window_hop) == (2.0, 0.5)


def test_windows_of_a_recipe_that_is_yet_to_be_chosen_wait_for_it():
    method = config(window=2, versions="1, 15/14")
    assert method.recipe == "auto"
    chosen = replace(method, recipe=recipe("environment22")).with_windows().recipe
    assert (chosen.window, chosen.versions) == (2.0, (1.0, 15 / 14))


def test_every_field_is_an_option_with_help():
    fields = {option.field for option in OPTIONS}
    assert fields == set(TrainingConfig.__dataclass_fields__) - {"chosen"}
    assert all(option.help and not option.help.endswith(".") for option in OPTIONS)
    of_corpus = {"recipe", "window", "hop", "versions", "average_versions", "judge_versions", "taxonomy"}
    assert of_corpus == {o.field for o in OPTIONS} - {o.field for o in METHOD_OPTIONS}


def test_normalisations_are_those_there_are():
    [option] = [option for option in OPTIONS if option.name == "normalisation"]
    assert set(option.parameter.choices) == {"auto", *NORMALISATIONS}


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"kernl": "gaussian"}, r"unknown option 'kernl'; did you mean 'kernel'\?"),
        ({"kernel": 3}, "kernel=3 must be a name or a kernel, not a int"),
        ({"C": "3"}, "C='3' must be a float"),
        ({"C": -1.0}, "C=-1.0 must be positive"),
        ({"folds": 1}, "folds=1 must be at least 2"),
        ({"window": -1}, "window=-1.0 must be positive"),
        ({"hop": float("nan")}, "hop=nan must be finite"),
        ({"c_range": [3, 1]}, "must be two values, the lower first"),
        ({"feature_shares": [0.5, 2]}, "feature_shares=2.0 must be above 0 and at most 1|at most 1"),
        ({"normalisation": "ranks"}, "unknown normalisation 'ranks'; did you mean 'rank'"),
        ({"strategy": "one_vs_on"}, "unknown strategy 'one_vs_on'; did you mean 'one_vs_one'"),
        ({"strategy": {"name": 3}}, "must have a name"),
        ({"kernel": "gaussian:sigm=2"}, "unknown parameter of gaussian 'sigm'; did you mean 'sigma'"),
        ({"kernel": "gaussian:sigma"}, "'sigma' must be NAME=VALUE"),
        ({"kernel": "gaussian:sigma=-1"}, "gaussian: sigma=-1.0 must be positive"),
        ({"kernel": []}, r"kernel=\[\] must name at least one kernel"),
        ({"c_rule": "guessed"}, "unknown c_rule 'guessed'|c_rule='guessed'"),
        ({"selection_rows": 1}, "selection_rows=1 must be at least 2"),
        ({"trainer": 3}, "trainer=3 must be a name or a trainer, not a int"),
        ({"search": "patern"}, "unknown search 'patern'; did you mean 'pattern'"),
    ],
)
def test_wrong_options_are_one_line(stated, message):
    with pytest.raises(UsageError, match=message):
        config(**stated)


def test_an_error_names_the_file_that_the_option_stands_in():
    with pytest.raises(UsageError, match=r"^mine\.toml: C=-1\.0 must be positive"):
        TrainingConfig.of({"C": -1.0}, run(), sources={"C": "mine.toml"})


def test_an_unknown_link_names_all_that_can_be_stated():
    with pytest.raises(UsageError, match="unknown link 'logg'; did you mean 'log'.* auto, log, none, temperature"):
        config(link="temperature+logg")
