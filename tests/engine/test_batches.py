"""Batches: one bad recording costs only itself, and a ledger knows what was done."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import run, segmentation
from trained import LABELS, RATE, sound

from audioclass.engine import batches
from audioclass.engine.batches import Ledger, classify_many, joined
from audioclass.engine.models import loaded
from audioclass.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    """Three good recordings and four bad ones."""
    for i, label in enumerate(LABELS):
        soundfile.write(tmp_path / f"{i} {label} é.wav", sound(label, i), RATE)
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "text.wav").write_text("no audio")
    whole = (tmp_path / "1 noise é.wav").read_bytes()
    (tmp_path / "truncated.wav").write_bytes(whole[: len(whole) // 2])
    broken = sound("tone", 0)
    broken[5000] = np.nan
    soundfile.write(tmp_path / "nan.wav", broken, RATE, subtype="FLOAT")
    return tmp_path


def outcomes_of(folder, model_file, ledger=None, **options):
    paths = sorted(folder.glob("*.wav"))
    outcomes = classify_many(paths, str(model_file), segmentation(), run(**options), ledger)
    done = {outcome.path: outcome for outcome in outcomes}
    return [done[path] for path in paths]


def test_a_bad_recording_is_one_line_and_costs_only_itself(folder, model_file):
    outcomes = outcomes_of(folder, model_file)
    reasons = {outcome.path.name: outcome.reason for outcome in outcomes if outcome.result is None}
    assert set(reasons) == {"empty.wav", "text.wav", "nan.wav"}
    assert all(str(folder / name) in reason and "\n" not in reason for name, reason in reasons.items())
    assert "sample 5000 is not a number" in reasons["nan.wav"]
    result = joined(outcomes, loaded(str(model_file)))
    assert [segment.label for segment in result.segments] == [*LABELS, "noise"]
    names = [*(f"{i} {label} é.wav" for i, label in enumerate(LABELS)), "truncated.wav"]
    assert result.files == tuple(str(folder / name) for name in names)


def test_a_damaged_recording_is_classified_up_to_its_damage(folder, model_file):
    *_, outcome = outcomes_of(folder, model_file)
    cut = outcome.result.cuts[str(folder / "truncated.wav")]
    assert cut.seconds == pytest.approx(0.5, abs=0.01)
    assert outcome.reason == f"{folder / 'truncated.wav'}: {cut.reason}; classified up to there"
    assert outcome.result.segments[-1].end == pytest.approx(cut.seconds)
    assert joined([outcome], loaded(str(model_file))).cuts == outcome.result.cuts


def test_where_it_is_strict_a_damaged_recording_is_refused(folder, model_file):
    strict = replace(run(), strict=True)
    (outcome,) = classify_many([folder / "truncated.wav"], str(model_file), segmentation(), strict)
    assert outcome.result is None
    assert "truncated.wav: ends after 0.50 s of the 1.00 s it declares" in outcome.reason


def test_a_ledger_remembers_damage_and_how_strict_it_was(folder, model_file, tmp_path):
    model, output = loaded(str(model_file)), tmp_path / "out.csv"
    first = outcomes_of(folder, model_file, Ledger(output, model, segmentation(), resume=False))[-1]
    again = outcomes_of(folder, model_file, Ledger(output, model, segmentation(), resume=True))[-1]
    assert again.was_finished
    assert (again.reason, again.result.cuts) == (first.reason, first.result.cuts)
    with pytest.raises(UsageError, match="other options"):
        Ledger(output, model, segmentation(), resume=True, strict=True)


@pytest.mark.parametrize("jobs", [2, 4])
def test_posteriors_are_the_same_for_any_number_of_jobs(folder, model_file, jobs):
    one, many = outcomes_of(folder, model_file), outcomes_of(folder, model_file, jobs=jobs)
    assert [outcome.reason for outcome in many] == [outcome.reason for outcome in one]
    results = [joined(outcomes, loaded(str(model_file))) for outcomes in (one, many)]
    assert results[0].segments == results[1].segments
    assert np.array_equal(results[0].P, results[1].P)


def ledger_of(folder, model_file, *, resume=True, reading=None):
    return Ledger(folder / "out.csv", loaded(str(model_file)), reading or segmentation(), resume=resume)


def test_what_the_ledger_knows_is_not_computed_again(folder, model_file, monkeypatch):
    first = outcomes_of(folder, model_file, ledger=ledger_of(folder, model_file))
    monkeypatch.setattr(batches, "classify_recording", None)  # whoever computes, fails
    again = outcomes_of(folder, model_file, ledger=ledger_of(folder, model_file))
    assert all(outcome.was_finished for outcome in again)
    for before, after in zip(first, again, strict=True):
        assert (after.reason, after.seconds) == (before.reason, before.seconds)
        assert before.result is None or np.array_equal(after.result.P, before.result.P)
        assert before.result is None or after.result.segments == before.result.segments


def test_a_recording_that_changed_is_classified_again(folder, model_file):
    outcomes_of(folder, model_file, ledger=ledger_of(folder, model_file))
    soundfile.write(folder / "empty.wav", sound("tone", 1), RATE)
    again = outcomes_of(folder, model_file, ledger=ledger_of(folder, model_file))
    assert [outcome.path.name for outcome in again if not outcome.was_finished] == ["empty.wav"]


def test_without_resume_all_begins_anew(folder, model_file):
    outcomes_of(folder, model_file, ledger=ledger_of(folder, model_file))
    assert ledger_of(folder, model_file, resume=False).find(folder / "text.wav") is None


def test_standard_input_is_never_known(folder, model_file):
    ledger = ledger_of(folder, model_file)
    ledger.note(batches.Outcome(Path("-"), reason="a reason"))
    assert ledger_of(folder, model_file).find(Path("-")) is None


@given(st.data())
@settings(max_examples=40)
def test_a_ledger_cut_anywhere_or_spoilt_loses_only_the_lines_that_were_hit(model_file, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("ledger")
    paths = [folder / f"{i}.wav" for i in range(3)]
    ledger = ledger_of(folder, model_file)
    for path in paths:
        ledger.note(batches.Outcome(path, reason=f"{path}: bad"))
    head, *lines = ledger.path.read_text().splitlines(keepends=True)
    kept = data.draw(st.integers(0, 3))
    junk = data.draw(
        st.sampled_from(["", "{", "[]\n", '{"mark": 3}\n', '{"mark": "x", "segments": 4}\n', lines[2][:30]])
    )
    ledger.path.write_text(head + "".join(lines[:kept]) + junk)
    resumed = ledger_of(folder, model_file)
    assert [resumed.find(path) is not None for path in paths] == [i < kept for i in range(3)]
    resumed.note(batches.Outcome(paths[2], reason="again"))
    assert ledger_of(folder, model_file).find(paths[2]).reason == "again"


def test_a_line_that_makes_no_sense_is_computed_again(folder, model_file):
    ledger, path = ledger_of(folder, model_file), folder / "text.wav"
    line = {"mark": batches._mark(path), "segments": [[3, 2, "tone"]], "P": [[1, 0, 0]], "seconds": 1}
    with ledger.path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    assert ledger_of(folder, model_file).find(path) is None


@pytest.mark.parametrize(
    "content", [b'{"made_with": "another"}\n', b"", b"\n", b"nonsense", b"[]\n{}\n", b"\xff\xfe\xff"]
)
def test_a_ledger_of_something_else_is_refused(folder, model_file, content):
    (folder / ".out.csv.ledger").write_bytes(content)
    with pytest.raises(UsageError, match="made with another model or other options; leave out --resume"):
        ledger_of(folder, model_file)


def test_a_ledger_that_cannot_be_read_is_refused(folder, model_file):
    (folder / ".out.csv.ledger").mkdir()
    with pytest.raises(UsageError, match="cannot be read; leave out --resume"):
        ledger_of(folder, model_file)


def test_other_options_are_another_ledger(folder, model_file):
    ledger_of(folder, model_file)
    with pytest.raises(UsageError, match="made with another model or other options"):
        ledger_of(folder, model_file, reading=segmentation(threshold=0.5))
