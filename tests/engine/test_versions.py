"""Windows that are trained on at several speeds: rows of machines, never windows of anything after them."""

from dataclasses import replace

import numpy as np
import pytest
from runs import config, recipe, run
from trained import RATE, mixture, train_small, write_corpus

from audioclass.classifier.card import card_of
from audioclass.classifier.saving import arrays_of, save_model
from audioclass.classifier.summary import Summary
from audioclass.data import Block
from audioclass.engine.calibrating import calibrate
from audioclass.engine.evaluating import cross_validate
from audioclass.engine.models import load_model, read_summary
from audioclass.engine.streaming import SegmentationOptions, classify_stream
from audioclass.engine.training import train_on
from audioclass.engine.updating import config_of, update
from audioclass.engine.versions import examples_of, judge_versions
from audioclass.errors import ModelError, UsageError
from audioclass.training.config import TrainingConfig
from audioclass.training.folds import grouped_folds
from audioclass.training.statistics import PairwiseStatistics
from audioclass.training.train import train_classifier

SPEEDS = "1, 15/14, 14/15"
CHOICES = {"strategy": "one_vs_rest", "kernel": "gaussian_unscaled:sigma=2", "criterion": "fixed", "C": 1.0}


def train_versions(small, **choices):
    return train_small(small, **{**CHOICES, "versions": SPEEDS, **choices})


@pytest.fixture(scope="module")
def three(small):
    return train_versions(small)


@pytest.fixture(scope="module")
def cheap(small):
    return train_versions(small, average_versions=False)


@pytest.fixture(scope="module")
def saved(three, tmp_path_factory):
    path = tmp_path_factory.mktemp("versions") / "three.audioclass"
    save_model(three.model, path)
    return path


def test_machines_have_a_row_for_each_version_and_reports_one_for_each_window(three):
    n = len(three.dataset.X)
    assert three.model.classifier.n_support == 3 * n
    assert three.training.held_out.shape == (n, 3)
    assert three.model.classifier.counts.sum() == n
    assert len(three.training.trained[0].held_out) == n
    assert three.model.recipe.versions == pytest.approx((1, 15 / 14, 14 / 15))


def test_versions_share_the_fold_of_their_window(three):
    model, dataset = three.model, three.dataset
    examples = examples_of(dataset, model.recipe, model.preprocessing, config(versions=SPEEDS))
    folds = examples.to_rows(grouped_folds(dataset.y, dataset.groups, 5))
    assert (folds.reshape(-1, 3) == folds[::3, None]).all()
    assert np.array_equal(examples.to_rows(examples.y), np.repeat(dataset.y, 3))


def test_held_out_scores_are_those_of_machines_without_all_versions_of_the_group(three):
    """A training that never had a group, in any version, gives its windows the scores that were held out."""
    dataset, model = three.dataset, three.model
    settings = config(**CHOICES, recipe=model.recipe)
    examples = examples_of(dataset, model.recipe, model.preprocessing, settings)
    is_out = examples.groups == 0
    rest = examples_of(dataset.take(np.flatnonzero(~is_out)), model.recipe, model.preprocessing, settings)
    again = train_classifier(rest, dataset.labels, settings, run())
    scores = again.classifier.scores(examples.statistics.X[examples.to_rows(is_out)])
    held_out = np.stack([result.held_out[is_out] for result in three.training.trained], axis=1)
    assert np.allclose(scores.reshape(-1, 3, 3).mean(axis=1), held_out, atol=1e-9)


def test_without_averaging_a_model_answers_with_one_version(cheap):
    assert cheap.model.recipe.versions == (1.0,)
    assert cheap.model.classifier.n_support == 3 * len(cheap.dataset.X)
    assert "trained on every window at the speeds 1.0, 1.07" in card_of(Summary.of(cheap.model))


def test_one_version_is_what_it_was(small):
    one, stated = (arrays_of(train_small(small, **CHOICES, **more).model) for more in ({}, {"versions": "[1]"}))
    assert one.keys() == stated.keys()
    assert all(stated[name].tobytes() == array.tobytes() for name, array in one.items())


def test_scores_are_means_over_versions(three):
    model, X = three.model, three.dataset.X
    d = model.recipe.n_features
    single = replace(model, recipe=model.recipe.at_one_speed)
    parts = [single.scores_of(X[:, i * d : (i + 1) * d]) for i in range(3)]
    assert np.allclose(model.scores_of(X), np.mean(parts, axis=0), atol=1e-6)


def test_windows_have_the_same_posteriors_alone_and_in_a_stream(three):
    model, X = three.model, np.tile(three.dataset.X, (3, 1))[:150]
    whole = model.posteriors_of(X)
    alone = np.concatenate([model.posteriors_of(X[i : i + 1], i) for i in range(len(X))])
    assert alone.tobytes() == whole.tobytes()


def test_any_blocks_give_the_same_segments(three):
    samples, options = mixture(), SegmentationOptions.of("hmm", run())

    def segments(size):
        pieces = [samples[i : i + size, None].astype(np.float32) for i in range(0, len(samples), size)]
        return [
            (one.segment, one.posteriors.tobytes())
            for one in classify_stream((Block(piece, RATE) for piece in pieces), three.model, options)
        ]

    assert segments(1000) == segments(len(samples))


def test_a_file_gives_back_the_same_model(three, saved):
    loaded = load_model(saved)
    assert loaded.recipe.versions == three.model.recipe.versions
    assert np.array_equal(loaded.memory.windows, np.repeat(np.arange(len(three.dataset.X)), 3))
    X = three.dataset.X
    assert loaded.posteriors_of(X).tobytes() == three.model.posteriors_of(X).tobytes()
    assert read_summary(saved)[0].versions == three.model.recipe.versions
    assert "means over every window at the speeds 1, 1.071, 0.9333" in card_of(Summary.of(loaded))


def test_memory_of_windows_in_disorder_is_refused(three, tmp_path):
    windows = three.model.memory.windows[::-1].copy()
    save_model(replace(three.model, memory=replace(three.model.memory, windows=windows)), tmp_path / "bad.audioclass")
    with pytest.raises(ModelError, match="must number windows from 0 on"):
        load_model(tmp_path / "bad.audioclass")


def test_the_configuration_of_a_model_has_its_versions(saved):
    assert config_of(load_model(saved), run())[0].recipe.versions == pytest.approx((1, 15 / 14, 14 / 15))


@pytest.mark.parametrize("answers_with", ["all", "one"])
def test_a_model_can_be_added_to(three, cheap, small, tmp_path, answers_with):
    path, before = tmp_path / "before.audioclass", three if answers_with == "all" else cheap
    save_model(before.model, path)
    more = write_corpus(tmp_path / "more", 2, labels=("tone",), first=20)
    made = update(path, more, run=run(small / "cache"))
    n_before, n_added = len(before.dataset.X), len(made.dataset.X)
    assert made.model.classifier.n_support == 3 * (n_before + n_added)
    assert made.training.held_out.shape == (n_before + n_added, 3)
    assert np.array_equal(made.model.memory.windows, np.repeat(np.arange(n_before + n_added), 3))
    assert made.model.recordings.rows.max() == 19
    assert made.model.recipe.versions == before.model.recipe.versions
    assert made.grouped.main.value("accuracy") == 1


def test_a_recording_that_comes_again_counts_once(small, saved):
    made = update(saved, small / "corpus", run=run(small / "cache"))
    before = load_model(saved)
    assert made.model.classifier.n_support == before.classifier.n_support
    assert len(made.model.recordings.digests) == len(before.recordings.digests)


def test_a_model_can_be_calibrated(saved, tmp_path):
    local = write_corpus(tmp_path / "local", 4, first=40)
    made = calibrate(saved, local, run=run(tmp_path / "cache"))
    assert made.model.recipe.versions == load_model(saved).recipe.versions


def test_folds_are_evaluated(small):
    """With models that answer with one version."""
    settings = config(recipe=str(small / "small.toml"), **CHOICES, versions=SPEEDS, average_versions=False)
    evaluated = cross_validate(small / "corpus", config=settings, folds="2", run=run(small / "cache"))
    assert evaluated.P.shape == (len(evaluated.dataset.X), 3)
    assert (evaluated.P.argmax(axis=1) == evaluated.dataset.y).mean() > 0.9


def test_versions_of_a_recipe_are_kept_only_where_they_help(three, small):
    """Where the pitch is the label, copies at other speeds are examples of the wrong one."""
    dataset, recipe = three.dataset, three.model.recipe
    settings = config(**CHOICES, recipe=recipe)
    examples = examples_of(dataset, recipe, three.model.preprocessing, settings)
    X = np.random.default_rng(0).standard_normal(examples.statistics.X.shape)
    X[examples.firsts] = examples.statistics.X[examples.firsts]
    misled = replace(examples, statistics=PairwiseStatistics(X))
    training = train_classifier(misled, dataset.labels, settings, run())
    judged = judge_versions(misled, training, settings, run())
    assert judged.config.recipe.versions == (1.0,)
    assert judged.examples.windows is None
    assert judged.training.choices[-1].endswith("one is kept")
    assert "with 3 versions of each window" in judged.training.choices[-1]


def test_versions_are_judged_where_the_recipe_states_them(manager):
    def settings(text="", **stated):
        table = {"recipe": recipe("environment22").with_versions([1, 1.1])} | stated
        return TrainingConfig.of(table, run())

    assert settings().judges_versions
    assert not settings(versions=SPEEDS).judges_versions
    assert settings(versions=SPEEDS, judge_versions=True).judges_versions
    assert not settings(judge_versions=False).judges_versions
    assert not settings(versions="1").judges_versions


@pytest.mark.parametrize("versions", ["2, 1", "1, 1/0", "1, 3", "1, x", "1, 1", "1,,2", [1, "a"], "1;2", 7, [1, None]])
@pytest.mark.parametrize("recipe", ["environment22", "auto"])
def test_other_versions_are_refused(recipe, versions):
    with pytest.raises(UsageError, match="versions"):
        config(recipe=recipe, versions=versions)


def test_options_of_versions_need_versions():
    with pytest.raises(UsageError, match="average_versions=False has no effect: windows are trained on in one version"):
        config(recipe="environment22", average_versions=False)


def test_fractions_are_read_from_files_too():
    assert config(recipe="environment22", versions=[1, "15/14"]).recipe.versions == pytest.approx((1, 15 / 14))


def too_many(three, X):
    """A training where all versions are too many rows, on windows that have other features."""
    settings = config(**CHOICES, recipe=three.model.recipe, large_rows=2 * len(X))
    return train_on(replace(three.dataset, X=X.reshape(len(X), -1)), settings, run())


@pytest.fixture(scope="module")
def versions_of(three):
    """(n, 3, n_features) of the windows."""
    return three.dataset.X.reshape(len(three.dataset.X), 3, -1)


@pytest.fixture(scope="module")
def averaged(three, versions_of):
    """Of versions that are equally far off, each in its own way."""
    noise = np.random.default_rng(0).standard_normal(versions_of.shape) * versions_of[:, 0].std(axis=0)
    return too_many(three, versions_of[:, :1] + 1.5 * noise)


def test_versions_that_are_too_many_rows_are_averaged_where_that_helps(averaged):
    n = len(averaged.dataset.X)
    note = averaged.training.choices[-1]
    assert note.startswith(f"versions: 3 of {n} windows are more than large_rows, one is trained on; held-out log-loss")
    assert note.endswith("they are averaged")
    assert averaged.model.classifier.n_support == n
    assert averaged.model.recipe.versions == pytest.approx((1, 15 / 14, 14 / 15))


def test_versions_that_are_too_many_rows_and_tell_nothing_are_left_out(three, versions_of):
    X = np.random.default_rng(0).permuted(versions_of, axis=0)
    X[:, 0] = versions_of[:, 0]
    judged = too_many(three, X)
    assert judged.training.choices[-1].endswith("one is kept")
    assert judged.model.recipe.versions == (1.0,)
    assert "versions" not in judged.model.about["choices"]


def test_nobody_judges_versions_that_a_model_does_not_answer_with(small):
    n = len(train_small(small, **CHOICES).dataset.X)
    cheap = train_versions(small, judge_versions=True, average_versions=False, large_rows=2 * n)
    assert cheap.training.choices[-1].endswith("one is trained on")
    assert cheap.model.recipe.versions == (1.0,)
    assert train_versions(small, large_rows=3 * n).model.classifier.n_support == 3 * n


def test_a_model_of_first_versions_that_answers_with_more_is_stored_and_added_to(averaged, versions_of, tmp_path):
    path = tmp_path / "one.audioclass"
    save_model(averaged.model, path)
    again, X = load_model(path), versions_of.reshape(len(versions_of), -1)
    assert np.array_equal(again.posteriors_of(X), averaged.model.posteriors_of(X))
    assert config_of(again, run())[0].recipe.versions == (1.0,)
    made = update(path, write_corpus(tmp_path / "more", 2, first=30), run=run(tmp_path / "cache"))
    assert made.model.recipe.versions == again.recipe.versions
    assert made.model.memory.windows is None
    assert made.model.classifier.n_support > again.classifier.n_support
