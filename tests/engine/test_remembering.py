"""A model that is added to: what it was trained on is known again, and held out of both."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from runs import run
from trained import LABELS, RATE, sound, train_small, write_corpus

from audioclass.classifier import bank
from audioclass.classifier.saving import save_model
from audioclass.cli import run as command
from audioclass.engine.calibrating import calibrate
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.gathering import gather
from audioclass.engine.models import load_model
from audioclass.engine.remembering import trained_on
from audioclass.engine.updating import update
from audioclass.errors import CorpusError

MANIFEST = "file,label,group\n"


def by_speaker(folder: Path, speakers: str = "abcd", first: int = 0, prefix: str = "") -> Path:
    """A table of recordings of a few speakers, each with a pitch and a noise of their own."""
    folder.mkdir(parents=True)
    lines = []
    for i, speaker in enumerate(speakers):
        own = 0.2 * np.sin(2 * np.pi * (700 + 350 * (ord(speaker) - 97)) * np.arange(RATE) / RATE)
        for label in LABELS:
            for take in range(first, first + 2):
                name = f"{prefix}{label}-{speaker}{take}.wav"
                soundfile.write(folder / name, sound(label, 5 * i + take) * 0.3 + own, RATE)
                lines.append(f"{name},{label},{speaker}\n")
    (folder / "table.csv").write_text(MANIFEST + "".join(lines))
    return folder / "table.csv"


@pytest.fixture(scope="module", params=["least_squares", "svm"])
def speakers(request, tmp_path_factory, small):
    """A folder with a table of four speakers, the model of it and what was measured."""
    folder = tmp_path_factory.mktemp("speakers")
    table = by_speaker(folder / "corpus")
    from runs import config

    from audioclass.engine.training import train

    options = {"recipe": str(small / "small.toml"), "criterion": "fixed", "trainer": request.param}
    trained = train(table, config=config(**options), name="m", run=run(folder / "cache"))
    save_model(trained.model, folder / "m.audioclass")
    return folder, trained


def figures(evaluation):
    return [{name: view.measures[name].value for name in ("accuracy", "log_loss")} for view in evaluation.views]


def assert_close(one, other):
    for before, after in zip(figures(one), figures(other), strict=True):
        assert after == pytest.approx(before, abs=0.02)


def test_the_same_corpus_gives_the_same_figures(speakers):
    folder, trained = speakers
    again = update(folder / "m.audioclass", folder / "corpus" / "table.csv", run=run(folder / "cache"))
    assert_close(trained.grouped, again.grouped)
    assert any("24 of 24 recordings are in the model already: they count once" in line for line in again.warnings)
    assert again.model.classifier.counts.tolist() == trained.model.classifier.counts.tolist()
    assert again.model.recordings.names == trained.model.recordings.names == tuple("abcd")


def test_nothing_grows_however_often_it_is_added(speakers, tmp_path):
    folder, trained = speakers
    table, path = folder / "corpus" / "table.csv", folder / "m.audioclass"
    for _ in range(2):
        again = update(path, table, run=run(folder / "cache"))
        path = tmp_path / "again.audioclass"
        save_model(again.model, path)
    assert again.model.classifier.n_support <= trained.model.classifier.n_support + 2
    assert len(again.model.recordings.digests) == 24
    assert_close(trained.grouped, again.grouped)


def test_renamed_recordings_are_known_by_their_content(speakers, tmp_path):
    folder, trained = speakers
    moved = tmp_path / "moved"
    moved.mkdir()
    lines = (folder / "corpus" / "table.csv").read_text().splitlines()[1:]
    for i, line in enumerate(lines):
        shutil.copy(folder / "corpus" / line.split(",")[0], moved / f"{i}.wav")
    table = moved / "table.csv"
    table.write_text("file,label\n" + "".join(f"{i}.wav,{line.split(',')[1]}\n" for i, line in enumerate(lines)))
    again = update(folder / "m.audioclass", table, run=run(folder / "cache"))
    assert any("24 of 24 recordings are in the model already" in line for line in again.warnings)
    assert set(again.model.recordings.names) == set("abcd")  # joined with what they were
    assert_close(trained.grouped, again.grouped)


def test_a_group_seen_before_stays_one_group(speakers, tmp_path):
    folder, _ = speakers
    more = by_speaker(tmp_path / "more", "ab", first=10)
    grown = update(folder / "m.audioclass", more, run=run(folder / "cache"))
    assert any(
        "2 groups have the name of a group in the model (a, b): each is held out as one" in w for w in grown.warnings
    )
    memory, recordings = grown.model.memory, grown.model.recordings
    assert recordings.names == tuple("abcd")
    assert len(recordings.digests) == 36
    assert set(np.unique(memory.groups)) <= set(range(4))
    assert np.array_equal(recordings.groups[recordings.rows], memory.groups)


@pytest.mark.parametrize("has_names", [True, False])
def test_a_name_that_a_group_came_by_once_is_its_name_ever_after(speakers, has_names, tmp_path):
    """Recordings of a came again as those of z; what comes as z later is held out with a, through files too."""
    folder, trained = speakers
    first, again = tmp_path / "first.audioclass", tmp_path / "again.audioclass"
    save_model(trained.model if has_names else replace(trained.model, recordings=None), first)
    table = folder / "corpus" / "renamed.csv"
    lines = [line for line in (folder / "corpus" / "table.csv").read_text().splitlines() if line.endswith(",a")]
    table.write_text(MANIFEST + "".join(line[:-1] + "z\n" for line in lines))
    save_model(update(first, table, run=run(folder / "cache")).model, again)
    more = by_speaker(tmp_path / "more", "z", first=10)
    grown = update(again, more, run=run(folder / "cache"))
    assert any("1 groups have the name of a group in the model (z)" in line for line in grown.warnings)
    recordings = grown.model.recordings
    assert len(recordings.names) == 4
    assert {recordings.names[i] for i in recordings.groups[-6:]} == {recordings.names[recordings.aliases["z"]]}
    save_model(grown.model, again)
    assert load_model(again).recordings.aliases == recordings.aliases


def test_new_groups_are_new(speakers, tmp_path):
    folder, _ = speakers
    grown = update(folder / "m.audioclass", by_speaker(tmp_path / "more", "ef"), run=run(folder / "cache"))
    assert grown.model.recordings.names == tuple("abcdef")
    assert grown.warnings == []


def test_a_recording_that_is_labelled_anew_has_the_new_label(speakers, tmp_path):
    folder, trained = speakers
    name = (folder / "corpus" / "table.csv").read_text().splitlines()[1].split(",")[0]
    shutil.copy(folder / "corpus" / name, tmp_path / name)
    (tmp_path / "table.csv").write_text(f"{MANIFEST}{name},tone,a\n")
    new = update(folder / "m.audioclass", tmp_path / "table.csv", run=run(folder / "cache")).model
    [place] = np.flatnonzero((new.recordings.digests == trained.model.recordings.digests[0]).all(axis=1))
    labels = {new.labels[k] for k in new.memory.y[new.recordings.rows == place]}
    assert labels == {"tone"}
    clicks = LABELS.index("clicks")
    assert new.classifier.counts[clicks] < trained.model.classifier.counts[clicks]


def test_a_file_keeps_what_is_remembered(speakers, tmp_path):
    folder, trained = speakers
    back = load_model(folder / "m.audioclass")
    for name in ("digests", "groups", "rows", "times"):
        assert np.array_equal(getattr(back.recordings, name), getattr(trained.model.recordings, name))
    assert back.recordings.names == trained.model.recordings.names
    save_model(back, tmp_path / "again.audioclass")
    assert (tmp_path / "again.audioclass").read_bytes() == (folder / "m.audioclass").read_bytes()


def test_a_model_without_names_is_added_to_with_care(speakers, tmp_path):
    """As a file of schema 1: windows that it remembers are known by their features, and the rest is said."""
    folder, trained = speakers
    save_model(replace(load_model(folder / "m.audioclass"), recordings=None), tmp_path / "old.audioclass")
    again = update(tmp_path / "old.audioclass", folder / "corpus" / "table.csv", run=run(folder / "cache"))
    assert any(" recordings are in the model already" in line for line in again.warnings)
    assert len(np.unique(again.model.memory.groups)) == 4
    assert_close(trained.grouped, again.grouped)
    save_model(again.model, tmp_path / "new.audioclass")
    assert load_model(tmp_path / "new.audioclass").recordings.names[0] == "group 0 of m, whose name is not known"


@pytest.mark.parametrize("axes", [0, 8])
def test_windows_that_are_kept_in_few_levels_are_known_too(axes, small, tmp_path, monkeypatch):
    monkeypatch.setattr(bank, "ROUNDED_FROM", 1)
    monkeypatch.setattr(bank, "COARSE_FROM", 1)
    trained = train_small(small, axes=axes)
    X, levels = trained.model.classifier.machines.X, trained.model.classifier.machines.levels
    assert levels is not None
    assert levels.codes.max() <= 63
    assert np.array_equal(X, trained.training.classifier.machines.X)  # machines were trained on what is kept
    save_model(replace(trained.model, recordings=None), tmp_path / "old.audioclass")
    again = update(tmp_path / "old.audioclass", small / "corpus", run=run(small / "cache"))
    assert any(" recordings are in the model already" in line for line in again.warnings), again.warnings
    assert np.array_equal(np.unique(again.model.classifier.machines.X, axis=0), np.unique(X, axis=0))


def test_a_model_without_names_says_so(speakers, tmp_path):
    folder, _ = speakers
    save_model(replace(load_model(folder / "m.audioclass"), recordings=None), tmp_path / "old.audioclass")
    grown = update(
        tmp_path / "old.audioclass", by_speaker(tmp_path / "more", "ae", first=10), run=run(folder / "cache")
    )
    assert any("was first written before models kept the names of groups" in line for line in grown.warnings)
    assert not any("in the model already" in line for line in grown.warnings)


def test_what_a_model_without_names_remembers_is_known_after_updates_too(speakers, tmp_path):
    folder, _ = speakers
    save_model(replace(load_model(folder / "m.audioclass"), recordings=None), tmp_path / "old.audioclass")
    more = by_speaker(tmp_path / "more", "e", first=10)
    grown = update(tmp_path / "old.audioclass", more, run=run(folder / "cache"))
    save_model(grown.model, tmp_path / "grown.audioclass")
    again = update(tmp_path / "grown.audioclass", folder / "corpus" / "table.csv", run=run(folder / "cache"))
    assert any(" recordings are in the model already" in line for line in again.warnings)
    assert len(np.unique(again.model.memory.groups)) == 5


def test_an_edited_tree_keeps_what_is_remembered(trained, model_file, small):
    from audioclass.engine.tree_editing import tree_of_model
    from audioclass.trees import editing

    edited = editing.set_machines(tree_of_model(trained.model), "tone", {"C": 3.0})
    new = update(model_file, tree=edited, run=run(small / "cache")).model
    assert new.recordings.names == trained.model.recordings.names
    assert np.array_equal(new.recordings.digests, trained.model.recordings.digests)
    assert np.array_equal(new.recordings.groups[new.recordings.rows], new.memory.groups)


def test_recordings_that_were_trained_on_do_not_calibrate(speakers, tmp_path):
    folder, _ = speakers
    with pytest.raises(CorpusError, match="label 'clicks' has no recording that the model was not trained on"):
        calibrate(folder / "m.audioclass", folder / "corpus" / "table.csv", run=run(folder / "cache"))
    both = by_speaker(tmp_path / "more", "ef")
    for line in (folder / "corpus" / "table.csv").read_text().splitlines()[1:5]:
        shutil.copy(folder / "corpus" / line.split(",")[0], both.parent / line.split(",")[0])
        both.write_text(both.read_text() + line + "\n")
    calibrated = calibrate(folder / "m.audioclass", both, run=run(folder / "cache"))
    assert calibrated.dataset.remarks[-1].startswith("4 recordings trained the model and are left out")
    assert calibrated.model.recordings is not None


def test_an_evaluation_says_what_was_trained_on(speakers, tmp_path, capsys):
    folder, _ = speakers
    both = by_speaker(tmp_path / "more", "ef")
    line = (folder / "corpus" / "table.csv").read_text().splitlines()[1]
    shutil.copy(folder / "corpus" / line.split(",")[0], both.parent / line.split(",")[0])
    both.write_text(both.read_text() + line + "\n")
    assert command(["evaluate", str(folder / "m.audioclass"), str(both), "--cache", str(folder / "cache")]) == 0
    assert "was trained on 1 of these 13 recordings" in capsys.readouterr().err


def test_new_recordings_were_not_trained_on(speakers, tmp_path):
    folder, _ = speakers
    model = load_model(folder / "m.audioclass")
    new = gather(read_corpus_at(by_speaker(tmp_path / "more", "ef"), run(), None), model.recipe, run(folder / "cache"))
    assert not trained_on(model, new).any()


def test_a_recording_that_stands_twice_in_a_corpus_is_noticed(small, tmp_path):
    corpus = write_corpus(tmp_path / "corpus", 4)
    shutil.copy(corpus / "tone" / "tone-0.wav", corpus / "tone" / "other.wav")
    shutil.copytree(corpus, tmp_path / "in" / "corpus")
    trained = train_small(tmp_path)
    assert any("1 recordings stand twice in the corpus, in two groups" in line for line in trained.warnings)


def test_the_command_says_it(speakers, tmp_path, capsys):
    folder, _ = speakers
    table, model = str(folder / "corpus" / "table.csv"), str(folder / "m.audioclass")
    output = str(tmp_path / "n.audioclass")
    assert command(["train", table, "--update", model, "-o", output, "--cache", str(folder / "cache")]) == 0
    assert "warning: 24 of 24 recordings are in the model already" in capsys.readouterr().err
