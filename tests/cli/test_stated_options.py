"""What was stated in files and on the command line, and what of it has no effect."""

import pytest
from runs import run

from audioclass.cli.stated_options import StatedOptions
from audioclass.errors import UsageError
from audioclass.training.shipped import shipped_configs


def test_what_is_stated_last_wins():
    stated = StatedOptions().updated({"C": 2, "seed": 3}, "mine.toml").updated({"C": 5})
    assert (stated.values, stated.sources) == ({"C": 5, "seed": 3}, {"C": "", "seed": "mine.toml"})
    assert (stated.seed, stated.config(run()).C) == (3, 5)


def test_a_configuration_goes_with_a_recipe_that_has_no_versions():
    stated = StatedOptions().updated(shipped_configs()["small"], "small")
    config = stated.updated({"recipe": "broadcast"}).config(run())
    assert (config.recipe.name, config.average_versions) == ("broadcast", False)


@pytest.mark.parametrize(
    ("file", "command_line", "message"),
    [
        ({"recipe": "broadcast", "average_versions": False}, {}, "mine.toml: average_versions=False has no effect"),
        ({"held_out": "folds", "folds": 3}, {"held_out": "auto", "folds": 4}, "^folds=4 has no effect"),
        ({"search": "grid", "criterion": "fixed"}, {"C": 2}, "mine.toml: search=grid.* has no effect"),
    ],
    ids=["in the file", "on the command line", "beside another option"],
)
def test_what_never_had_an_effect_is_refused(file, command_line, message):
    with pytest.raises(UsageError, match=message):
        StatedOptions().updated(file, "mine.toml").updated(command_line).config(run())


def test_a_file_that_needs_the_command_line_is_no_harm():
    file = {"held_out": "span"}
    stated = StatedOptions().updated(file, "mine.toml").updated({"trainer": "svm", "recipe": "broadcast"})
    assert stated.config(run()).held_out == "span"


def test_strategies_are_compared_with_the_same_options():
    stated = StatedOptions().updated({"calibrator": "beta"}, "mine.toml").updated({"recipe": "broadcast"})
    configs = stated.configs(run(), ["one_vs_one", "dag"])
    assert [config.strategy.name for config in configs.values()] == list(configs)
