"""A model of clips classifies longer recordings with windows that fit its clips, files and streams alike."""

from dataclasses import replace

import numpy as np
import pytest
import soundfile
from labelled_events import write_long_recipe
from runs import run, segmentation
from trained import RATE, mixture, train_small

from audioclass.audio.blocks import read_blocks
from audioclass.classifier.saving import save_model
from audioclass.cli import run as command
from audioclass.engine.archives import Archive
from audioclass.engine.batches import Ledger
from audioclass.engine.classifying import classify, classify_recording
from audioclass.engine.durations import with_added_labels
from audioclass.engine.stream_windows import stream_windows_note, windows_of_labels, with_stream_windows
from audioclass.engine.streaming import classify_stream
from audioclass.errors import UsageError

CHANGES = (3.0, 6.0, 9.0)  # of the mixture


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Clips of a second, trained on with windows of four: every clip is one window."""
    folder = tmp_path_factory.mktemp("clips")
    soundfile.write(folder / "long.wav", mixture(), RATE)
    return folder


@pytest.fixture(scope="module")
def model(place):
    recipe = write_long_recipe(place, window=4.0)
    model = train_small(place, recipe=recipe).model
    save_model(model, place / "clips.audioclass")
    return model


def errors(result):
    ends = np.array([segment.end for segment in result.segments[:-1]])
    return [np.abs(ends - change).min() if len(ends) else np.inf for change in CHANGES]


def test_windows_are_as_long_as_clips_and_five_to_one(model):
    fitted = with_stream_windows(model)
    assert (fitted.recipe.window, fitted.recipe.window_hop) == (1.05, 0.2)
    assert with_stream_windows(fitted) is fitted
    assert stream_windows_note(model) == (
        "the model was trained on clips of 1 s: windows of 1.05 s every 0.2 s instead of 4 every 4"
        " (--hop recipe keeps these)"
    )
    assert stream_windows_note(model, 0.5) == stream_windows_note(model, "recipe") == ""


def test_a_clip_is_one_window_as_it_was_in_training(model, place):
    clip = next((place / "corpus").rglob("*.wav"))
    results = [classify(clip, model, hop=hop, windows=True, run=run()) for hop in (None, "recipe")]
    np.testing.assert_array_equal(*(result.P for result in results))


def test_boundaries_are_found_where_they_are(model, place):
    fitted, coarse = (classify(place / "long.wav", model, hop=hop, run=run()) for hop in (None, "recipe"))
    assert [segment.label for segment in fitted.segments] == ["tone", "noise", "clicks", "tone"]
    assert max(errors(fitted)) < 0.6  # about half of a window
    assert max(errors(coarse)) >= 1


@pytest.mark.parametrize("hop", [None, 0.3, "recipe"])
@pytest.mark.parametrize("block", [999, 50_000])
def test_streams_of_any_blocks_give_what_the_file_gives(model, place, hop, block):
    options = segmentation(hop=hop)
    whole = classify_recording(place / "long.wav", model, options).result
    blocks = read_blocks(place / "long.wav", RATE, block_length=block)
    streamed = list(classify_stream(blocks, model, options))
    assert [one.segment for one in streamed] == list(whole.segments)
    np.testing.assert_array_equal([one.posteriors for one in streamed], whole.P)


@pytest.mark.parametrize(
    "durations",
    [
        {},
        {"parts": 0.8},
        {"hop_is_stated": True},
        {"recordings": {"0.5": 60.0, "0.95": 90.0}},
    ],
    ids=["an older model", "trained on parts", "a stated hop", "trained on long recordings"],
)
def test_other_models_have_the_windows_of_their_recipe(model, durations):
    known = {**model.about["durations"], **durations} if durations else {}
    other = replace(model, about={**model.about, "durations": known})
    assert with_stream_windows(other) is other
    assert stream_windows_note(other) == ""


def test_the_smoother_goes_by_the_durations_of_clips(model):
    smoother = segmentation().smoother_for(model)
    stays = np.reshape(smoother.transitions, (3, 3)).diagonal()
    np.testing.assert_allclose(stays, 1 - 0.2 / 1.0)
    np.testing.assert_allclose(windows_of_labels(with_stream_windows(model, 0.1)), 10)
    assert segmentation("hmm:duration=7").smoother_for(model).transitions is None


def test_transitions_count_the_same_changes_with_another_hop(model):
    counts = np.array([[90, 10, 0], [4, 46, 0], [0, 0, 0]])
    continuous = replace(model, transitions=counts, about={**model.about, "durations": {}})
    finer = with_stream_windows(continuous, 1.0).transitions
    np.testing.assert_array_equal(finer, [[390, 10, 0], [4, 196, 0], [0, 0, 0]])
    assert with_stream_windows(continuous, 4.0) is continuous


def test_what_is_no_hop_is_refused(model, place, capsys):
    for hop in ("0", "-1", "inf", "nan", "often"):
        with pytest.raises(UsageError, match="hop="):
            classify(place / "long.wav", model, hop=hop, run=run())
    assert command(["classify", str(place / "long.wav"), "-m", str(place / "clips.audioclass"), "--hop", "0"]) == 2
    assert "hop=0 must be a positive number of seconds" in capsys.readouterr().err


def test_the_command_says_which_windows_it_takes(model, place, capsys):
    clip = str(next((place / "corpus").rglob("*.wav")))
    for path, hop, is_told in (
        (place / "long.wav", [], True),
        (place / "long.wav", ["--hop", "1"], False),
        (clip, [], False),
    ):
        assert command(["classify", str(path), "-m", str(place / "clips.audioclass"), *hop]) == 0
        assert ("windows of 1.05 s every 0.2 s instead of 4 every 4" in capsys.readouterr().err) is is_told


def test_a_batch_goes_on_with_the_same_windows_alone(model, place, tmp_path):
    Ledger(tmp_path / "x.csv", model, segmentation(), resume=False)
    Ledger(tmp_path / "x.csv", model, segmentation(), resume=True)
    with pytest.raises(UsageError, match="other options"):
        Ledger(tmp_path / "x.csv", model, segmentation(hop=0.5), resume=True)


def test_an_archive_has_the_same_windows_for_all_recordings(model, place, tmp_path):
    pytest.importorskip("deltalake")
    archive = Archive(tmp_path / "archive", run())
    archive.add(place / "long.wav", model=place / "clips.audioclass")
    windows = archive.windows().to_pandas()
    np.testing.assert_allclose(np.diff(np.sort(windows["start_s"]))[:-1], 0.192, atol=1e-6)


def test_an_update_keeps_durations_and_adds_those_of_new_labels(model):
    before = model.about["durations"]
    added = {"labels": {"hum": 2.0, "tone": 9.0}, "recordings": {"0.5": 9.0, "0.95": 9.0}}
    assert with_added_labels(before, added) == {**before, "labels": {**before["labels"], "hum": 2.0}}
    assert with_added_labels({}, added) == {}  # of an older model: what was added says nothing of the rest
