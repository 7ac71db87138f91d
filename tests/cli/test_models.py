import json
from dataclasses import replace

import pytest
from trained import train_small, write_corpus

from audioclass.classifier.saving import save_model
from audioclass.cli import run
from audioclass.engine.models import load_model


def test_a_model_shows_itself(model_file, capsys):
    assert run(["model", "show", str(model_file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("small: 3 labels, ")
    assert lines[1].startswith("strategy hybrid_dendrogram, recipe small (")
    assert lines[2].startswith("held out by group, per recording: accuracy 1.000")
    assert lines[3].startswith("made with audioclass ")
    assert lines[5] == "group 1"
    assert any("tone  (log-loss" in line for line in lines)


def test_a_model_without_a_tree_shows_its_taxonomy(small, tmp_path, capsys):
    save_model(train_small(small, strategy="one_vs_one").model, tmp_path / "m.audioclass")
    assert run(["model", "show", str(tmp_path / "m.audioclass")]) == 0
    assert [line[-5:] for line in capsys.readouterr().out.splitlines()[5:]] == ["licks", "noise", " tone"]


def test_its_manifest_for_programs(model_file, capsys):
    assert run(["model", "show", str(model_file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["format"] == "audioclass model"
    assert said["labels"] == ["clicks", "noise", "tone"]


def test_golden_posteriors_are_verified(model_file, capsys):
    assert run(["model", "verify", str(model_file)]) == 0
    assert "golden posteriors differ by 0; up to 0.01 is rounding" in capsys.readouterr().out
    assert run(["model", "verify", str(model_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steady"] is True


def test_drift_is_reported_and_refused(trained, tmp_path, capsys):
    path = tmp_path / "drifted.audioclass"
    save_model(replace(trained.model, golden=replace(trained.model.golden, P=trained.model.golden.P[::-1, ::-1])), path)
    assert run(["model", "verify", str(path)]) == 1
    captured = capsys.readouterr()
    assert "golden posteriors differ by" in captured.out
    assert "on this machine; train it again or use the versions it names" in captured.err


def test_a_card_is_markdown(model_file, capsys):
    assert run(["model", "card", str(model_file)]) == 0
    card = capsys.readouterr().out
    assert card.startswith("# small\n")
    assert "| held out by group, per recording | 1.000 |" in card
    assert "| random split, per window | 1.000 |" in card
    assert "18 recordings in 18 groups" in card
    assert "audioclass classify recording.wav --model small.audioclass" in card


@pytest.mark.parametrize("command", ["show", "verify", "card"])
def test_what_is_no_model_is_one_line(command, tmp_path, capsys):
    (tmp_path / "text.audioclass").write_text("no model")
    assert run(["model", command, str(tmp_path / "text.audioclass")]) == 1
    assert (
        capsys.readouterr().err == f"{tmp_path / 'text.audioclass'}: not a whole model file: File is not a zip file\n"
    )


def test_a_calibration_is_fitted_anew(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = train_small(small, strategy="one_vs_one").model
    spoilt = tuple(dict(one, offset=one["offset"] + 5.0) for one in model.classifier.calibrations)
    classifier = replace(model.classifier, calibrations=spoilt)
    made = type(model).of("m", model.recipe, model.preprocessing, classifier, model.taxonomy, model.about)
    save_model(made, tmp_path / "m.audioclass")
    write_corpus(tmp_path / "local", 4, first=6)
    assert run(["calibrate", "m.audioclass", "local", "--cache", str(small / "cache")]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("m-calibrated.audioclass: log-loss ")
    assert captured.err == ""
    assert load_model(tmp_path / "m-calibrated.audioclass").drift() == 0


def test_a_calibration_that_does_not_help_is_warned_of(model_file, small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "local", 1, first=6)
    assert run(["calibrate", str(model_file), "local", "--json", "--cache", str(small / "cache")]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["log_loss_after"] is None
    assert "warning: the new calibration is no better than the old one" in captured.err
