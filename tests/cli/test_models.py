import json
import re
from dataclasses import replace
from importlib.resources import files

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
    assert lines[2].startswith("held out by recording, per recording: accuracy 1.000")
    assert re.search(r", log-loss 0\.\d{3}, Brier score 0\.\d{3}, ECE 0\.\d{3}$", lines[2])
    assert lines[3].startswith("group weights: ")
    assert lines[4].startswith("last step: ")
    assert lines[5].startswith("made with audioclass ")
    assert lines[7] == "group 1"
    assert any("tone  (log-loss" in line for line in lines)


def test_a_model_without_a_tree_shows_its_taxonomy(small, tmp_path, capsys):
    save_model(train_small(small, strategy="one_vs_one").model, tmp_path / "m.audioclass")
    assert run(["model", "show", str(tmp_path / "m.audioclass")]) == 0
    assert [line[-5:] for line in capsys.readouterr().out.splitlines()[-3:]] == ["licks", "noise", " tone"]


def test_weights_of_groups_are_shown(trained, tmp_path, capsys):
    searched = {"weights": {"shape": 0.25, "cepstra": 0.75}, "log_loss_given": 0.5, "log_loss_chosen": 0.4}
    about = {**trained.model.about, "group_weights": {**searched, "are_chosen": True}}
    save_model(replace(trained.model, about=about), tmp_path / "m.audioclass")
    assert run(["model", "show", str(tmp_path / "m.audioclass")]) == 0
    line = "group weights: cepstra 0.75, shape 0.25 (log-loss on unseen groups 0.500 before the search, 0.400 after)"
    assert line in capsys.readouterr().out.splitlines()


def test_what_was_chosen_in_training_is_shown(trained, tmp_path, capsys):
    note = "normalisation: held-out log-loss 0.134 with rank, 0.116 with waves: waves"
    save_model(replace(trained.model, about={**trained.model.about, "notes": [note]}), tmp_path / "m.audioclass")
    assert run(["model", "show", str(tmp_path / "m.audioclass")]) == 0
    assert note in capsys.readouterr().out.splitlines()


def test_its_manifest_for_programs(model_file, capsys):
    assert run(["model", "show", str(model_file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["format"] == "audioclass model"
    assert said["labels"] == ["clicks", "noise", "tone"]


def test_golden_posteriors_are_verified(model_file, capsys):
    assert run(["model", "verify", str(model_file)]) == 0
    assert (
        "golden features differ by 0 units of their last decimal, golden posteriors by 0;"
        " up to 2 and 0.0005 is rounding" in capsys.readouterr().out
    )
    assert run(["model", "verify", str(model_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steady"] is True


def test_drift_is_reported_and_refused(trained, tmp_path, capsys):
    path = tmp_path / "drifted.audioclass"
    save_model(replace(trained.model, golden=replace(trained.model.golden, P=trained.model.golden.P[::-1, ::-1])), path)
    assert run(["model", "verify", str(path)]) == 1
    captured = capsys.readouterr()
    assert "golden posteriors by" in captured.out
    assert "computes otherwise than when it was made: the versions are those that it was made with" in captured.err


def test_a_card_is_markdown(model_file, capsys):
    assert run(["model", "card", str(model_file)]) == 0
    card = capsys.readouterr().out
    assert card.startswith("# small\n")
    assert "| held out by recording, per recording | 1.000 |" in card
    assert "| random split, per window | 1.000 |" in card
    assert "18 recordings in 18 groups" in card
    assert "audioclass classify recording.wav --model small.audioclass" in card


def test_the_card_of_the_shipped_model_says_what_its_file_does(capsys):
    assert run(["model", "card", "broadcast"]) == 0
    card = (files("audioclass") / "models" / "broadcast.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in capsys.readouterr().out.splitlines() if line not in card] == []


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
    parts = (model.taxonomy, model.about, model.memory, model.inverse_temperature, model.transitions, model.recordings)
    save_model(type(model).of("m", model.recipe, model.preprocessing, classifier, *parts), tmp_path / "m.audioclass")
    write_corpus(tmp_path / "local", 4, first=6)
    assert run(["calibrate", "m.audioclass", "local", "--cache", str(small / "cache")]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("m-calibrated.audioclass: log-loss ")
    assert captured.err == ""
    assert load_model(tmp_path / "m-calibrated.audioclass").drift().posteriors == 0


def test_a_calibration_that_does_not_help_is_not_written(model_file, small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "local", 1, first=6)
    command = ["calibrate", str(model_file), "local", "--cache", str(small / "cache")]
    assert run(command) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("calibration: log-loss ")
    assert "small-calibrated.audioclass: not written: a label has recordings of one group alone" in captured.err
    assert "--anyway writes it" in captured.err
    assert not (tmp_path / "small-calibrated.audioclass").exists()
    assert run([*command, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["model"] is None


def test_a_calibration_that_does_not_help_leaves_what_is_there(model_file, small, tmp_path, monkeypatch, capsys):
    from audioclass.engine import calibrating

    (tmp_path / "kept.audioclass").write_text("as it was")
    write_corpus(tmp_path / "local", 4, first=6)
    monkeypatch.setattr(calibrating, "_compared", lambda *_: (0.1, 0.2, None))
    command = ["calibrate", str(model_file), str(tmp_path / "local"), "-o", str(tmp_path / "kept.audioclass")]
    assert run([*command, "--cache", str(small / "cache")]) == 1
    assert "kept.audioclass: not written: the new calibration is no better than the old one" in capsys.readouterr().err
    assert (tmp_path / "kept.audioclass").read_text() == "as it was"


def test_a_calibration_that_does_not_help_is_written_if_one_insists(model_file, small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "local", 1, first=6)
    assert run(["calibrate", str(model_file), "local", "--anyway", "--json", "--cache", str(small / "cache")]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["log_loss_after"] is None
    assert captured.err.startswith("warning: ")
    assert load_model(tmp_path / "small-calibrated.audioclass").drift().is_rounding
