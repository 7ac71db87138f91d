from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from trained import train_small, write_corpus

from audioclass.classifier.card import card_of
from audioclass.classifier.saving import save_model
from audioclass.classifier.summary import Summary
from audioclass.cli import run as run_command
from audioclass.data import Clip, Segment
from audioclass.engine import near_duplicates
from audioclass.engine.datasets import Dataset
from audioclass.engine.evaluated import Evaluated
from audioclass.engine.near_duplicates import NearDuplicateClips, near_duplicate_facts, near_duplicates_among
from audioclass.training.near_duplicates import NearDuplicates

SEEN = NearDuplicates(0.4, 18, 12, accuracy=-0.2, log_loss=0.5, pairs=((0, 8),))


def windows_of_sessions(n=160, n_labels=4, n_features=20):
    """Two windows of each recording, four recordings of a label from each session."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_labels
    session = np.arange(n) // (4 * n_labels) * n_labels + y
    clips = tuple(Clip(Path(f"{i}.wav"), f"label {label}") for i, label in enumerate(y))
    means = rng.standard_normal((n, n_features)) + 2 * rng.standard_normal((session.max() + 1, n_features))[session]
    which = np.repeat(np.arange(n), 2)
    X = means[which] + 0.5 * rng.standard_normal((2 * n, n_features))
    labels = tuple(f"label {label}" for label in range(n_labels))
    return Dataset(X, labels, clips, which, (Segment(0.0, 1.0, ""),) * (2 * n), (), ""), session


def test_windows_of_a_recording_are_no_duplicates_but_recordings_of_a_session_are():
    dataset, session = windows_of_sessions()
    feature_groups = [f"part {i // 5}" for i in range(20)]
    duplicates = near_duplicates_among(dataset, np.asarray, feature_groups)
    assert duplicates.n_groups == 160
    assert duplicates.share > 0.8
    assert all(session[i // 2] == session[j // 2] and i // 2 != j // 2 for i, j in duplicates.pairs)
    folds = session[dataset.which] % 5
    assert near_duplicates_among(dataset, np.asarray, feature_groups, apart=folds) is None


def test_recordings_of_a_session_get_one_group():
    dataset, session = windows_of_sessions()
    clips = NearDuplicateClips.among(dataset, np.asarray, [f"part {i // 5}" for i in range(20)])
    regrouped = dataset.regrouped(clips.same_groups)
    assert len(np.unique(regrouped.groups)) < 100  # there are 40 sessions
    for group in np.unique(regrouped.groups):
        assert len(np.unique(session[dataset.which[regrouped.groups == group]])) == 1
    assert not clips.left_apart.any()
    [choice] = clips.choices
    n, n_held = (int(word) for word in choice.split() if word.isdigit())
    assert n - n_held == 160 - len(np.unique(regrouped.groups))
    assert dataset.regrouped({}) is dataset


def test_only_some_clips_of_many_are_prepared(monkeypatch):
    dataset, _ = windows_of_sessions()
    monkeypatch.setattr(near_duplicates, "ROWS", 40)
    seen = []
    NearDuplicateClips.among(dataset, lambda X: seen.append(len(X)) or X, ["part"] * 20)
    assert seen == [80]


@pytest.mark.parametrize("together", [1, 3, 7, 1000])
def test_windows_are_prepared_some_at_a_time(together, monkeypatch):
    """The second clip alone has more windows than that, and so has the first."""
    rng = np.random.default_rng(0)
    which, clips = rng.permutation(np.repeat(np.arange(6), [9, 12, 1, 2, 3, 1])), np.array([0, 1, 3, 4, 5])
    X, sizes = rng.standard_normal((len(which), 2)), []
    monkeypatch.setattr(near_duplicates, "WINDOWS_TOGETHER", together)
    means = near_duplicates._means_of_clips(X, which, clips, lambda some: sizes.append(len(some)) or 2 * some)
    np.testing.assert_allclose(means, [2 * X[which == clip].mean(axis=0) for clip in clips])
    assert sum(sizes) == 27
    assert max(sizes) < together + 12


def test_near_duplicates_are_held_out_together_in_a_training(tmp_path):
    """Of every recording there is a copy under another name, a little louder and with a little noise."""
    folder = write_corpus(tmp_path / "corpus")
    rng = np.random.default_rng(0)
    for file in sorted(folder.rglob("*.wav")):
        samples, rate = soundfile.read(file)
        soundfile.write(
            file.with_name(f"again-{file.name}"), 0.9 * samples + 1e-4 * rng.standard_normal(len(samples)), rate
        )
    trained = train_small(tmp_path)
    groups, names = trained.model.recordings.groups, trained.model.recordings.names
    assert len(np.unique(trained.dataset.groups)) == len(groups)  # as the corpus has them
    assert len(names) < len(groups)
    assert trained.model.recordings.aliases
    assert any(choice.startswith("near-duplicates: ") for choice in trained.choices)
    assert trained.model.about["corpus"]["groups"] == len(groups)


def test_a_training_warns_of_them(trained):
    assert trained.near_duplicates is None
    [warning] = replace(trained, near_duplicates=SEEN).warnings
    assert warning.startswith(
        "40% of the recordings have a near-duplicate that was not held out with them, such as clicks-"
    )
    assert "accuracy 1.000 becomes about 0.800" in warning


def test_a_training_says_that_pairs_were_held_out_together(trained):
    [warning] = replace(trained, near_duplicates=replace(SEEN, are_joined=True)).warnings
    assert warning.startswith("40% of the recordings have a near-duplicate in another group, such as clicks-")
    assert "though these pairs were held out together, with such clusters held out whole" in warning


def test_an_evaluation_warns_of_them(trained):
    P = trained.training.held_out
    evaluated = Evaluated(trained.dataset, trained.model.labels, P, trained.model.paths, near_duplicates=SEEN)
    [warning] = evaluated.warnings(trained.grouped)
    assert "which flatters the figures" in warning
    assert evaluated.facts(trained.grouped)["near_duplicates"]["accuracy"] == pytest.approx(0.8)
    assert replace(evaluated, near_duplicates=None).facts(trained.grouped) == {}


def test_a_model_keeps_and_shows_them(trained, tmp_path, capsys):
    about = trained.model.about | near_duplicate_facts(SEEN, trained.grouped)
    model = replace(trained.model, about=about)
    save_model(model, tmp_path / "m.audioclass")
    assert run_command(["model", "show", str(tmp_path / "m.audioclass")]) == 0
    line = "40% of the recordings have near-duplicates in other groups, which flatters these figures: with such"
    assert line in capsys.readouterr().out
    assert line in card_of(Summary.of(model))
