"""Continuous recordings teach a model how labels follow one another, and the default smoother goes by it."""

from dataclasses import replace

import numpy as np
import pytest
import soundfile
from runs import config, run, segmentation
from trained import RATE, train_small, write_recipe

from audioclass.classifier.saving import save_model
from audioclass.cli import run as command
from audioclass.engine.classifying import classify_recording
from audioclass.engine.models import load_model
from audioclass.engine.training import train
from audioclass.engine.updating import update

CYCLE = (("low", 3.0), ("middle", 0.75), ("high", 2.0))  # the middle one is short, and always before the high one
HERTZ = {"low": 400, "middle": 500, "high": 600}


def wavering(label, seconds, rng):
    """A tone that jumps to another pitch four times a second: one window by itself is often taken for another label."""
    n = round(seconds * RATE)
    hertz = np.repeat(rng.normal(HERTZ[label], 90, n // (RATE // 4) + 1), RATE // 4)[:n]
    return 0.3 * np.sin(2 * np.pi * np.cumsum(hertz) / RATE) + rng.normal(0, 0.02, n)


def write_cycles(folder, numbers, n_cycles=3):
    """A corpus of recordings in which the labels take turns, none of them with a gap."""
    folder.mkdir()
    lines = ["file,label,start,end"]
    for number in numbers:
        parts, at, rng = [], 0.0, np.random.default_rng(number)
        for label, seconds in CYCLE * n_cycles:
            parts.append(wavering(label, seconds, rng))
            lines.append(f"{number}.wav,{label},{at},{at + seconds}")
            at += seconds
        soundfile.write(folder / f"{number}.wav", np.concatenate(parts), RATE)
    (folder / "segments.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("continuous")
    write_cycles(folder / "cycles", range(4))
    write_recipe(folder)
    return folder


@pytest.fixture(scope="module")
def trained(place):
    setup = config(recipe=str(place / "small.toml"), criterion="fixed", strategy="one_vs_rest")
    return train(place / "cycles", config=setup, run=run(place / "cache"))


def test_changes_of_label_are_counted(trained):
    counts, labels = trained.model.transitions, trained.model.labels
    changes = {(labels[i], labels[j]): int(counts[i, j]) for i in range(3) for j in range(3) if i != j}
    assert changes == {
        ("low", "middle"): 12,
        ("middle", "high"): 12,
        ("high", "low"): 8,
        ("high", "middle"): 0,
        ("middle", "low"): 0,
        ("low", "high"): 0,
    }
    assert counts.sum() == len(trained.dataset.y) - 4


def test_clips_of_their_own_teach_nothing(place):
    assert train_small(place).model.transitions is None


def test_a_gap_ends_a_sequence(trained):
    inside = [i for i, segment in enumerate(trained.dataset.segments) if not 2.5 < segment.start < 4.0]
    sequences = trained.dataset.take(np.array(inside)).label_sequences(0.25)
    assert len(sequences) == 4  # what is before the gap is one clip, which says nothing of what follows it
    assert all(len(np.unique(sequence)) == 3 for sequence in sequences)


def test_transitions_survive_a_file(trained, tmp_path, capsys):
    save_model(trained.model, tmp_path / "m.audioclass")
    np.testing.assert_array_equal(load_model(tmp_path / "m.audioclass").transitions, trained.model.transitions)
    assert command(["model", "show", str(tmp_path / "m.audioclass")]) == 0
    assert "hmm: transitions learnt from continuous recordings, 32 changes of label\n" in capsys.readouterr().out
    assert command(["model", "card", str(tmp_path / "m.audioclass")]) == 0
    assert "How labels follow one another was learnt from continuous recordings" in capsys.readouterr().out


def labels_of(recording, model, options):
    result = classify_recording(recording, model, options).result
    return [segment.label for segment in result.segments], [segment.end for segment in result.segments], result.P


def test_the_default_smoother_goes_by_them(trained, tmp_path):
    corpus = write_cycles(tmp_path / "new", [100], n_cycles=30)
    right = {}
    for name, model in (("learnt", trained.model), ("default", replace(trained.model, transitions=None))):
        result = classify_recording(corpus / "100.wav", model, segmentation(windows=True)).result
        reference = [label_at((segment.start + segment.end) / 2) for segment in result.segments]
        right[name] = np.mean(
            [segment.label == label for segment, label in zip(result.segments, reference, strict=True)]
        )
    assert right["learnt"] > right["default"]


def label_at(time):
    borders = np.cumsum([seconds for _, seconds in CYCLE])
    return CYCLE[int(np.searchsorted(borders, time % borders[-1], side="right"))][0]


def test_stated_parameters_and_models_without_transitions_are_as_before(trained, place):
    plain, recording = replace(trained.model, transitions=None), place / "cycles" / "0.wav"
    for smooth in ("hmm:duration=10", "hmm:minimum=1,look_ahead=8", "median", "none"):
        one, other = (labels_of(recording, each, segmentation(smooth)) for each in (trained.model, plain))
        assert one[:2] == other[:2]
        np.testing.assert_array_equal(one[2], other[2])
    plain = replace(plain, about={})  # one that does not know either how long its segments lasted
    by_name, stated = (labels_of(recording, plain, segmentation(smooth)) for smooth in ("hmm", "hmm:duration=10"))
    assert by_name[:2] == stated[:2]
    np.testing.assert_array_equal(by_name[2], stated[2])


def test_an_update_adds_to_the_counts(trained, place, tmp_path):
    save_model(trained.model, tmp_path / "m.audioclass")
    more = write_cycles(tmp_path / "more", [5])
    new = update(tmp_path / "m.audioclass", more, run=run(place / "cache")).model
    assert new.transitions.trace() > trained.model.transitions.trace()
    assert new.transitions.sum() - new.transitions.trace() == 32 + 8
    for label in HERTZ:
        (tmp_path / "single" / label).mkdir(parents=True)
        soundfile.write(tmp_path / "single" / label / "1.wav", wavering(label, 1, np.random.default_rng(7)), RATE)
    single = update(tmp_path / "m.audioclass", tmp_path / "single", run=run(place / "cache")).model
    np.testing.assert_array_equal(single.transitions, trained.model.transitions)
