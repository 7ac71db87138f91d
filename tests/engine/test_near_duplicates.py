from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audioclass.classifier.card import card_of
from audioclass.classifier.saving import save_model
from audioclass.classifier.summary import Summary
from audioclass.cli import run as run_command
from audioclass.data import Clip, Segment
from audioclass.engine.datasets import Dataset
from audioclass.engine.evaluated import Evaluated
from audioclass.engine.near_duplicates import near_duplicate_facts, near_duplicates_among
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
    duplicates = near_duplicates_among(dataset, dataset.X, feature_groups)
    assert duplicates.n_groups == 160
    assert duplicates.share > 0.8
    assert all(session[i // 2] == session[j // 2] and i // 2 != j // 2 for i, j in duplicates.pairs)
    folds = session[dataset.which] % 5
    assert near_duplicates_among(dataset, dataset.X, feature_groups, apart=folds) is None


def test_a_training_warns_of_them(trained):
    assert trained.near_duplicates is None
    [warning] = replace(trained, near_duplicates=SEEN).warnings
    assert warning.startswith(
        "40% of the recordings have a near-duplicate that was not held out with them, such as clicks-"
    )
    assert "accuracy 1.000 becomes about 0.800" in warning


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
