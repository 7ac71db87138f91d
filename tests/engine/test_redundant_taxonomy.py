"""A label in two groups, from the file of a taxonomy to segments."""

import json

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import config, run, segmentation
from trained import LABELS, RATE, mixture

from audioclass.classifier.saving import manifest_of, save_model
from audioclass.cli import run as command
from audioclass.engine.classifying import classify_recording
from audioclass.engine.models import load_model
from audioclass.engine.training import train
from audioclass.kernels.gaussian import Gaussian
from audioclass.taxonomy import Taxonomy
from audioclass.testing.blobs import blobs
from audioclass.training.examples import Examples
from audioclass.training.train import train_classifier

TREE = 'steady = ["noise", "tone"]\nrough = ["noise", "clicks"]\n'


@pytest.fixture(scope="module")
def place(small, tmp_path_factory):
    """A folder with the file of a taxonomy in which noise stands twice, and a model trained with it."""
    folder = tmp_path_factory.mktemp("redundant")
    (folder / "tree.toml").write_text(TREE, encoding="utf-8")
    setup = config(recipe=str(small / "small.toml"), criterion="fixed", taxonomy=str(folder / "tree.toml"))
    trained = train(small / "corpus", config=setup, run=run(small / "cache"), name="m")
    save_model(trained.model, folder / "m.audioclass")
    return folder


@pytest.fixture(scope="module")
def model(place):
    return load_model(place / "m.audioclass")


def test_the_file_of_a_model_keeps_both_places(model):
    assert model.taxonomy == Taxonomy.of({"steady": ["noise", "tone"], "rough": ["noise", "clicks"]})
    assert model.paths == (("rough", "clicks"), ("steady", "rough", "noise"), ("steady", "tone"))
    manifest = manifest_of(model)
    assert manifest["paths"] == [["rough", "clicks"], ["steady", "noise"], ["steady", "tone"]]
    assert ["rough", "noise"] in manifest["taxonomy"]


def test_a_tree_without_repetition_adds_nothing_to_the_file(trained):
    assert not {"taxonomy", "transitions"} & set(manifest_of(trained.model))


def test_it_is_shown_in_both_groups(place, capsys):
    assert command(["tree", "show", str(place / "m.audioclass")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("── noise" in line for line in lines) == 2
    assert command(["model", "card", str(place / "m.audioclass")]) == 0
    assert capsys.readouterr().out.count("── noise\n") == 2


def test_the_command_line_takes_it(small, place, tmp_path):
    arguments = ["--recipe", str(small / "small.toml"), "--criterion", "fixed", "--cache", str(small / "cache")]
    output = ["--taxonomy", str(place / "tree.toml"), "-o", str(tmp_path / "m.audioclass")]
    assert command(["train", str(small / "corpus"), *arguments, *output]) == 0
    assert load_model(tmp_path / "m.audioclass").taxonomy.repeated == ("noise",)


def test_doubtful_segments_are_called_by_a_group_whose_labels_add_up(model, tmp_path):
    soundfile.write(tmp_path / "x.wav", mixture(), RATE)
    result = classify_recording(tmp_path / "x.wav", model, segmentation(windows=True, threshold=0.999999)).result
    np.testing.assert_allclose(result.P.sum(axis=1), 1, atol=1e-9)
    assert {segment.label for segment in result.segments} <= {*LABELS, "steady", "rough", "unknown"}
    members = {"steady": [1, 2], "rough": [0, 1]}
    for segment, row in zip(result.segments, result.P, strict=True):
        if segment.label in members:
            assert row[members[segment.label]].sum() >= 0.999999


def test_exports_add_up_the_labels_of_a_group(place, tmp_path):
    soundfile.write(tmp_path / "x.wav", mixture(), RATE)
    options = ["--model", str(place / "m.audioclass"), "--threshold", "0.999", "-o", str(tmp_path / "x.json")]
    assert command(["classify", str(tmp_path / "x.wav"), *options]) == 0
    document = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert document["paths"]["noise"] == ["steady", "rough", "noise"]


def drawn_taxonomy(labels, seed):
    """Two or three groups that share some labels, each with one of its own."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(2, 4))
    own = np.array_split(rng.permutation(len(labels)), n_groups)
    shared = rng.choice(len(labels), int(rng.integers(1, 3)), replace=False)
    groups = {f"g{i}": sorted({*each.tolist(), *shared.tolist()}) for i, each in enumerate(own)}
    return Taxonomy.of({name: [labels[k] for k in members] for name, members in groups.items()})


@pytest.mark.parametrize("below", ["as given", "average"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_posteriors_sum_to_one_whatever_is_shared(below, seed):
    X, y = blobs(6, n_each=4, spread=0.8)
    labels = tuple("abcdef")
    taxonomy = drawn_taxonomy(labels, seed)
    setup = config(strategy=f"hybrid_dendrogram:tree=taxonomy,below={below}", kernel=Gaussian(), criterion="fixed")
    training = train_classifier(Examples.of(X, y), labels, setup, run(), taxonomy=taxonomy)
    P = training.classifier.posteriors(X)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(training.held_out.sum(axis=1), 1, atol=1e-12)
