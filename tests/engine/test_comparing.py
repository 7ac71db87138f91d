import pytest
from runs import config, run
from trained import train_small, write_corpus, write_recipe

from audioclass.engine.comparing import check_several, compare_configs, compare_models
from audioclass.errors import UsageError


def setups(small, *strategies):
    recipe = str(small / "small.toml")
    return {name: config(recipe=recipe, strategy=name, criterion="fixed") for name in strategies}


def test_strategies_meet_on_the_same_folds(small):
    asked = setups(small, "one_vs_one", "one_vs_rest", "dag")
    told = []
    found = compare_configs(
        small / "corpus", asked, folds="3", run=run(small / "cache", progress=lambda stage, *_: told.append(stage))
    )
    assert [system.name for system in found.systems] == list(asked)
    assert len(found.pairs) == 3
    assert found.ranked is not None
    assert set(found.systems[0].costs) == {"train_seconds", "predict_seconds", "machines", "support_rows"}
    assert found.systems[0].costs["machines"] == 3
    assert "one_vs_one, fold 1 of 3, training" in told


def test_the_same_strategy_under_two_names_does_not_differ(small):
    [setup] = setups(small, "one_vs_one").values()
    found = compare_configs(small / "corpus", {"a": setup, "b": setup}, folds="2", run=run(small / "cache"))
    assert found.pairs[0].difference == 0
    assert found.pairs[0].adjusted["mcnemar"] == 1


def test_models_meet_on_the_same_recordings(small, tmp_path):
    models = {name: train_small(small, strategy=name).model for name in ("one_vs_one", "one_vs_rest")}
    write_corpus(tmp_path / "test", 2, first=40)
    found = compare_models(tmp_path / "test", models, run=run(small / "cache"))
    assert [system.name for system in found.systems] == ["one_vs_one", "one_vs_rest"]
    assert found.ranked is None


def test_models_that_were_trained_on_the_corpus_are_named(small, trained, tmp_path):
    write_corpus(tmp_path / "corpus", 6, first=30)
    write_recipe(tmp_path)
    models = {"one": trained.model, "two": train_small(tmp_path).model}
    with pytest.warns(UserWarning, match="was trained on this very corpus") as warnings:
        compare_models(small / "corpus", models, run=run(small / "cache"))
    [warning] = [str(each.message) for each in warnings]
    assert warning.startswith("one was trained on this very corpus: these figures say nothing")


def test_models_of_other_labels_are_one_line(small, trained, tmp_path):
    write_corpus(tmp_path / "corpus", 2, labels=("tone", "noise"))
    other = train_small(tmp_path).model
    with pytest.raises(
        UsageError, match="models of different labels cannot be compared: clicks, noise, tone and noise"
    ):
        compare_models(small / "corpus", {"one": trained.model, "two": other})


def test_models_of_other_windows_are_one_line(small, trained):
    from audioclass.engine.training import train

    setup = config(recipe=str(small / "small.toml"), criterion="fixed", window=0.25)
    other = train(small / "corpus", config=setup, run=run(small / "cache")).model
    with pytest.raises(UsageError, match="models with different windows cannot be compared window by window"):
        compare_models(small / "corpus", {"one": trained.model, "two": other}, run=run(small / "cache"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["dag"], "1 strategy or model, at least 2 are needed to compare"),
        (["dag", "dag"], "'dag' is given twice, systems to compare must have names of their own"),
    ],
)
def test_a_comparison_needs_two_names(names, message):
    with pytest.raises(UsageError, match=message):
        check_several(names)
