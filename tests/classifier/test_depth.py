"""A model told less deep than its labels stand: the view, and the default that its file states."""

import json
from dataclasses import replace

import numpy as np
import pytest
from archives import members_of, sealed, zipped
from trees_of_sounds import with_tree

from audioclass.classifier.card import card_of
from audioclass.classifier.saving import manifest_of, save_model
from audioclass.classifier.summary import Summary
from audioclass.engine.models import load_model, read_summary
from audioclass.errors import ModelError
from audioclass.taxonomy import Taxonomy


@pytest.fixture(scope="module")
def model(trained):
    return with_tree(trained.model)


def test_posteriors_of_groups_are_sums_over_their_labels(model, trained):
    X = trained.dataset.X
    P, told = model.posteriors_of(X), model.at_depth(1)
    assert told.labels == ("rough", "tone")
    np.testing.assert_array_equal(told.posteriors_of(X), np.column_stack([P[:, 0] + P[:, 1], P[:, 2]]))
    assert told.posteriors_of(X[:0]).shape == (0, 2)


@pytest.mark.parametrize("depth", [2, 3, 99, None])
def test_a_view_at_full_depth_is_the_model_itself(model, depth):
    assert model.at_depth(depth) is model


def test_the_default_depth_counts_where_none_is_stated(model):
    stated = replace(model, default_depth=1)
    assert stated.at_depth().labels == ("rough", "tone")
    assert stated.at_depth(2).labels == model.labels
    told = stated.at_depth(2)
    assert told.at_depth() is told  # what is told deeper stays so


def test_a_view_is_told_at_its_depth_again(model):
    told = model.at_depth(1)
    assert told.at_depth(1) is told.at_depth() is told


def test_paths_transitions_and_durations_are_those_of_the_groups(model):
    durations = {**model.about["durations"], "labels": {"clicks": 2.0, "noise": 4.0}}
    known = replace(
        model, transitions=np.arange(9).reshape(3, 3), about={**model.about, "durations": durations}
    ).at_depth(1)
    assert known.paths == (("rough",), ("tone",))
    np.testing.assert_array_equal(known.transitions, [[0 + 1 + 3 + 4, 2 + 5], [6 + 7, 8]])
    assert known.about["durations"]["labels"] == {"rough": 3.0}


def test_golden_vectors_are_those_of_the_leaves(model):
    assert model.at_depth(1).drift() == model.drift()


def test_thresholds_have_one_for_each_label(model):
    assert model.at_depth(1).thresholds.shape == (2,)
    assert model.thresholds.shape == (3,)


def test_labels_that_overlap_are_told_as_they_are(overlap_trained):
    assert overlap_trained.model.at_depth(1) is overlap_trained.model


def test_the_default_depth_is_the_same_after_a_file(model, tmp_path):
    save_model(replace(model, default_depth=1), tmp_path / "m.audioclass")
    back = load_model(tmp_path / "m.audioclass")
    assert back.default_depth == 1
    assert manifest_of(back) == manifest_of(replace(model, default_depth=1))


def test_a_file_without_it_tells_its_labels(model_file, trained):
    assert "default_depth" not in manifest_of(trained.model)
    assert load_model(model_file).default_depth is None


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", [1], {}, "x" * 1000], ids=lambda value: str(value)[:9])
def test_what_is_no_depth_is_refused_in_a_file(model_file, tmp_path, value):
    members = members_of(model_file)
    manifest = json.loads(members["manifest.json"]) | {"default_depth": value}
    path = tmp_path / "m.audioclass"
    path.write_bytes(zipped(sealed(members | {"manifest.json": json.dumps(manifest).encode()})))
    for read in (load_model, read_summary):
        with pytest.raises(ModelError, match=r"default depth '.{1,40}' must be a whole number of at least 1"):
            read(path)


def test_a_default_depth_that_would_count_labels_twice_is_refused(model, tmp_path):
    twice = Taxonomy.of({"rough": ["clicks", "noise"], "steady": ["noise", "tone"]})
    stated = replace(model, taxonomy=twice, default_depth=1)
    with pytest.raises(ModelError, match="its default depth=1: label 'noise' stands in several groups"):
        save_model(stated, tmp_path / "m.audioclass")
    save_model(replace(stated, default_depth=None), tmp_path / "m.audioclass")
    members = members_of(tmp_path / "m.audioclass")
    manifest = json.loads(members["manifest.json"]) | {"default_depth": 1}
    (tmp_path / "m.audioclass").write_bytes(zipped(sealed(members | {"manifest.json": json.dumps(manifest).encode()})))
    with pytest.raises(ModelError, match="its default depth=1: label 'noise' stands in several groups"):
        load_model(tmp_path / "m.audioclass")


def test_a_view_is_not_saved_as_a_model(model, tmp_path):
    with pytest.raises(ModelError, match="a view of a model cannot be saved"):
        save_model(model.at_depth(1), tmp_path / "m.audioclass")
    assert not list(tmp_path.iterdir())


def test_the_card_says_what_is_told_by_default(model):
    card = card_of(Summary.of(replace(model, default_depth=1)))
    assert "└── tone\n\nTells 2 labels by default (rough, tone), all 3 with `--depth 2`." in card
    assert "by default" not in card_of(Summary.of(model))
