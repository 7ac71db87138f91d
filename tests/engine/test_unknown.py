"""A model that knows what is strange to it, from training to a line that says unknown."""

import io
import json
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import signals
import soundfile
from archives import members_of, npy, sealed, zipped
from runs import run, segmentation
from trained import RATE, mixture, sound, train_small, write_corpus
from typer.testing import CliRunner

import audioclass
from audioclass.audio.blocks import read_blocks
from audioclass.classifier.risk import Risk
from audioclass.classifier.risk_nodes import NodeRisk
from audioclass.classifier.saving import save_model
from audioclass.cli import app
from audioclass.data import Block, Posteriors, Result, Segment
from audioclass.engine.batches import Ledger, classify_many, joined
from audioclass.engine.calibrating import calibrate
from audioclass.engine.classifying import classify_recording
from audioclass.engine.imagining import _extracted, imagined_rows
from audioclass.engine.knowing import KnownGroups
from audioclass.engine.models import loaded
from audioclass.engine.streaming import classify_stream
from audioclass.engine.updating import update
from audioclass.errors import ModelError, UsageError
from audioclass.taxonomy import Taxonomy
from audioclass.training import imagined

ASKED = {"unknown": 0.04, "risk": 0.2}
WITH_BOTH = Result(
    ("x.wav",),
    (Segment(0, 1, "b"),),
    np.array([[0.3, 0.7]]),
    ("a", "b"),
    novelty=np.array([0.25]),
    sets=(("b", "a"),),
)


@pytest.fixture(scope="module")
def few_sounds():
    """A few imagined sounds of each kind, in this module alone."""
    patch = pytest.MonkeyPatch()
    patch.setattr(imagined, "KINDS", {kind: (draw, 3) for kind, (draw, _) in imagined.KINDS.items()})
    _extracted.cache_clear()
    yield
    patch.undo()
    _extracted.cache_clear()


@pytest.fixture(scope="module")
def place(tmp_path_factory, few_sounds):
    """A folder with a corpus of 30 groups, of which some are near-duplicates."""
    folder = tmp_path_factory.mktemp("unknown")
    write_corpus(folder / "corpus", 10)
    return folder


@pytest.fixture(scope="module")
def model(place):
    return train_small(place).model


@pytest.fixture(scope="module")
def file(place, model):
    path = place / "knowing.audioclass"
    save_model(model, path)
    return path


@pytest.fixture(scope="module")
def recording(place):
    """Sounds of the labels, then a chirp that wails, of none."""
    t = np.arange(3 * RATE) / RATE
    wail = 0.6 * np.sign(np.sin(2 * np.pi * (1500 * t + 80 * np.sin(9 * t)))) * (1 + np.sin(40 * t))
    path = place / "strange.wav"
    soundfile.write(path, np.concatenate([mixture(), wail / 2]), RATE, subtype="FLOAT")
    return path


def test_training_on_enough_groups_teaches_both(model):
    assert 20 <= model.novelty.n_groups == model.risk.n_groups == model.node_risk.risk.n_groups < 30


def test_near_duplicates_of_other_groups_tell_no_risk_where_enough_are_left():
    y, groups, P = np.arange(30) % 3, np.arange(30), np.eye(3)[np.arange(30) % 3]
    for n_alike, n_asked in ((0, 30), (10, 20), (11, 30)):
        alike = np.arange(30) < n_alike
        asked = KnownGroups(P, y, groups, [str(i) for i in range(30)], P, alike).new_to_others
        assert len(asked.groups) == n_asked


def test_training_on_few_groups_teaches_neither(trained):
    assert trained.model.novelty is None
    assert trained.model.risk is None


def test_they_come_back_from_a_file_to_the_bit(model, file, recording):
    one, other = (classify_recording(recording, each, segmentation(**ASKED)).result for each in (model, loaded(file)))
    assert np.array_equal(one.novelty, other.novelty)
    assert (one.segments, one.sets) == (other.segments, other.sets)


def test_what_is_strange_is_a_segment_that_is_unknown(model, recording):
    result = audioclass.classify(recording, model, unknown=0.04)
    assert [segment.label for segment in result.segments][-1] == "unknown"
    assert [segment.label for segment in result.segments][:4] == ["tone", "noise", "clicks", "tone"]
    assert result.novelty[-1] < 0.04 <= result.novelty[:4].min()
    without = audioclass.classify(recording, model)
    assert "unknown" not in {segment.label for segment in without.segments}
    assert without.sets is None


def test_held_out_recordings_are_rarely_strange(model, tmp_path):
    write_corpus(tmp_path / "new", 8, first=20)
    files = sorted((tmp_path / "new").rglob("*.wav"))
    novelty = np.concatenate([audioclass.classify(path, model).novelty for path in files])
    assert np.mean(novelty < 0.02) < 0.25


def test_blocks_of_any_size_give_the_same_to_the_bit(model, recording):
    options = segmentation(windows=True, **ASKED)
    whole = classify_recording(recording, model, options).result
    samples = next(iter(read_blocks(recording, RATE, block_length=10**7))).samples
    cuts = [0, 1, 4097, 30000, 30001, len(samples)]
    blocks = [Block(samples[a:b], RATE, a) for a, b in pairwise(cuts)]
    streamed = list(classify_stream(blocks, model, options))
    assert [each.novelty for each in streamed] == whole.novelty.tolist()
    assert [each.segment for each in streamed] == list(whole.segments)


def test_a_batch_and_its_ledger_hold_novelty_and_sets(file, model, recording, place):
    options, output = segmentation(**ASKED), place / "out.csv"
    single = classify_recording(recording, model, options).result
    for resume in (False, True):
        ledger = Ledger(output, model, options, resume=resume)
        outcomes = list(classify_many([recording], str(file), options, run(), ledger))
        together = joined(outcomes, model)
        assert outcomes[0].was_finished == resume
        assert np.array_equal(together.novelty, single.novelty)
        assert together.sets == single.sets
    ledger.close()


def test_sets_hold_the_likeliest_label_first(model, recording):
    result = audioclass.classify(recording, model, risk=0.2)
    assert all(labels[0] == model.labels[P.argmax()] for labels, P in zip(result.sets, result.P, strict=True))
    assert audioclass.classify(recording, model, risk=0.001).sets[0] == tuple(
        sorted(model.labels, key=lambda label: -result.P[0, model.labels.index(label)])
    )


def test_nodes_are_told_by_the_name_of_their_group(model, recording):
    """What is likelier than the threshold alone is a label; with no risk to speak of all labels are needed."""
    noises = replace(model, taxonomy=Taxonomy.of({"noises": ["noise", "clicks"], "tone": {}}))
    marks = np.array([[label != "tone" for label in model.labels]])
    unsure = replace(WITH_BOTH, P=np.array([[0.4, 0.5, 0.1]]), labels=model.labels, paths=(), sets=None)
    for value, expected in ((0.0, ("noise",)), (0.6, ("noises",)), (0.95, ("unknown",))):
        values, weights = np.full(4, value, np.float32), np.ones(4, np.float32)
        known = replace(noises, node_risk=NodeRisk(marks, Risk(values, weights, values, weights)))
        options = segmentation(risk=0.2, risk_sets="node")
        assert options.with_sets(unsure, known).sets == (expected,)
    assert audioclass.classify(recording, model, risk=0.001, risk_sets="node").sets[0] == ("unknown",)


def test_a_group_without_a_name_is_told_by_its_labels(model):
    unsure = replace(WITH_BOTH, P=np.array([[0.4, 0.5, 0.1]]), labels=model.labels, paths=(), sets=None)
    values, weights = np.full(4, 0.6, np.float32), np.ones(4, np.float32)
    marks = np.array([[label != "tone" for label in model.labels]])
    known = replace(model, node_risk=NodeRisk(marks, Risk(values, weights, values, weights)))
    assert segmentation(risk=0.2, risk_sets="node").with_sets(unsure, known).sets == (("noise", "clicks"),)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"risk": 0.1, "risk_sets": "tree"}, "risk_sets=tree must be one of labels, node"),
        ({"risk_sets": "node"}, "risk_sets=node says what a risk gives: ask for one above 0"),
    ],
)
def test_other_sets_are_refused(options, reason):
    with pytest.raises(UsageError, match=reason):
        segmentation(**options)


def test_a_model_that_does_not_know_says_so_in_one_line(model_file, recording):
    for option in ("unknown", "risk"):
        with pytest.raises(UsageError, match=f"small: {option} needs a model that was trained with it") as error:
            audioclass.classify(recording, model_file, **{option: 0.05})
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("level", [-0.1, 1.0, float("nan")])
def test_levels_are_probabilities(level):
    for option in ("unknown", "risk"):
        with pytest.raises(UsageError, match=f"{option}=.* must be a probability below 1"):
            segmentation(**{option: level})


def test_levels_that_so_few_groups_cannot_promise_are_told(model):
    n = model.risk.n_groups
    assert segmentation(unknown=0.05, risk=0.05).notes(model) == []
    notes = segmentation(unknown=0.01, risk=0.01).notes(model)
    assert notes == [
        f"{n} training groups: novelty below {1 / (n + 1):.2g} is extrapolated beyond the strangest",
        f"{n} training groups promise no risk below {1 / (n + 1):.2g}: every set holds all labels",
    ]


def test_lines_and_formats_carry_both(file, recording, tmp_path):
    arguments = ["classify", str(recording), "--model", str(file), "--unknown", "0.04", "--risk", "0.2"]
    lines = CliRunner().invoke(app, arguments).stdout.splitlines()
    assert lines[0].split("\t")[-2:] == ["novelty", "set"]
    assert lines[-1].split("\t")[3] == "unknown"
    assert CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "x.csv")]).exit_code == 0
    head, *rows = (tmp_path / "x.csv").read_text().splitlines()
    assert ",cut,novelty,set,posterior_clicks," in head
    assert CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "x.json")]).exit_code == 0
    segments = json.loads((tmp_path / "x.json").read_text())["segments"]
    assert len(segments) == len(rows) == len(lines) - 1
    assert segments[-1]["label"] == "unknown"
    assert segments[0]["set"][0] == "tone"
    assert segments[0]["novelty"] > segments[-1]["novelty"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("json_lines", '"novelty": 0.25, "set": ["b", "a"]'),
        ("raven", "\tProbability\tNovelty\tSet\n"),
        ("raven", "\t0.250000\tb|a\n"),
        ("csv", "0.250000,b|a,0.300000,0.700000"),
        ("jams", '"sets": [\n'),
        ("jams", '"novelty": [\n'),
    ],
)
def test_formats_that_carry_probabilities_carry_both(name, expected):
    stream = io.StringIO()
    run().component("format", name).write(WITH_BOTH, stream)
    assert expected in stream.getvalue().replace("\r\n", "\n")


def test_a_data_frame_has_both():
    pytest.importorskip("pandas")
    [row] = WITH_BOTH.to_pandas().to_dict("records")
    assert (row["novelty"], row["set"]) == (0.25, ("b", "a"))


def test_a_table_with_too_few_of_them_is_refused():
    segment, P = (Segment(0, 1, "b"),), np.array([[0.3, 0.7]])
    with pytest.raises(ValueError, match="2 novelty for 1 segments"):
        Result(("x.wav",), segment, P, ("a", "b"), novelty=np.ones(2))
    with pytest.raises(ValueError, match="0 sets for 1 segments"):
        Result(("x.wav",), segment, P, ("a", "b"), sets=())
    with pytest.raises(ValueError, match="2 values of strangeness for 1 segments"):
        Posteriors(P, ("a", "b"), segment, np.ones(2))


def test_a_live_stream_is_told_the_same(file, recording, monkeypatch):
    options = ["--model", str(file), "--unknown", "0.04", "--risk", "0.2"]
    lines = CliRunner().invoke(app, ["classify", str(recording), *options]).stdout.splitlines()
    with recording.open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", type("Pipe", (), {"buffer": stream})())
        from audioclass.cli.actions.follow_stream import follow_recording

        told = []
        monkeypatch.setattr("audioclass.cli.screen.out", told.append)
        asked = segmentation(unknown=0.04, risk=0.2)
        follow_recording(["-"], str(file), asked, ["novelty", "set"], None, provisional=False, strict=False)
    assert [line.split("\t")[1:] for line in told] == [line.split("\t")[1:] for line in lines]


def test_calibration_keeps_novelty_and_renews_risk(file, model, tmp_path):
    write_corpus(tmp_path / "local", 4, first=30)
    renewed = calibrate(file, tmp_path / "local", run=run()).model
    assert renewed.novelty.n_groups == model.novelty.n_groups
    assert renewed.risk.n_groups == renewed.node_risk.risk.n_groups == 12


def test_an_update_learns_them_anew(file, model, tmp_path):
    write_corpus(tmp_path / "more", 3, first=40)
    updated = update(file, tmp_path / "more", run=run()).model
    assert updated.novelty.n_groups == updated.risk.n_groups == model.novelty.n_groups + 9


@pytest.mark.parametrize(
    ("member", "array", "reason"),
    [
        ("novelty/weights.npy", np.full(7, 1.0, np.float32), "novelty: arrays of"),
        ("novelty/more.npy", np.ones(1, np.float32), "'novelty/more.npy' is not known"),
        ("risk/clips.npy", np.full(31, 2.0, np.float32), "risk: arrays of"),
        ("risk_nodes/nodes.npy", np.zeros((1, 2), bool), "risk_nodes: nodes of bool"),
    ],
)
def test_files_whose_members_do_not_fit_are_refused(file, tmp_path, member, array, reason):
    damaged = tmp_path / "damaged.audioclass"
    damaged.write_bytes(zipped(sealed(members_of(file) | {member: npy(array)})))
    with pytest.raises(ModelError, match=reason):
        audioclass.load_model(damaged)


def test_imagined_rows_are_kept_in_the_cache(model, tmp_path, few_sounds):
    first = imagined_rows(model.recipe, run(tmp_path))
    _extracted.cache_clear()
    again = imagined_rows(model.recipe, run(tmp_path))
    assert _extracted.cache_info().misses == 0
    assert [rows.shape for rows in first] == [rows.shape for rows in again]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_new_tone_is_not_strange_and_silence_is_no_error(model, tmp_path):
    soundfile.write(tmp_path / "silence.wav", np.zeros(RATE), RATE)
    soundfile.write(tmp_path / "tone.wav", sound("tone", 3) + signals.noise(1.0, RATE, 0.001), RATE)
    tone = audioclass.classify(tmp_path / "tone.wav", model)
    assert tone.novelty[0] > 0.05
    silent = audioclass.classify(tmp_path / "silence.wav", model)
    assert np.isfinite(silent.novelty).all()


def test_posteriors_are_those_of_a_model_that_does_not_know_the_strange(model, recording):
    one, other = (
        classify_recording(recording, each, segmentation(windows=True)).result
        for each in (model, replace(model, novelty=None))
    )
    assert np.array_equal(one.P, other.P)
    assert other.novelty is None
