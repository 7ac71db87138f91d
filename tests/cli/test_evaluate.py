import json
import re

import numpy as np
import pytest
from browser import shown
from pages import rows
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss
from trained import QUICK, train_small, write_corpus

from audioclass.classifier.saving import save_model
from audioclass.cli import run
from audioclass.engine.evaluating import evaluate_model
from audioclass.engine.models import load_model


@pytest.fixture
def command(small, tmp_path, monkeypatch, capsys):
    """Run a command with the small corpus's cache, in a folder of its own; its code, output and messages."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = run([str(arguments[0]), "--cache", str(small / "cache"), *map(str, arguments[1:])])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def way(small):
    return ["--recipe", small / "small.toml", *QUICK]


@pytest.fixture
def new(tmp_path):
    return write_corpus(tmp_path / "test", 3, first=6)


def test_a_configuration_is_evaluated_on_folds(command, small, way):
    code, out, _ = command("evaluate", small / "corpus", *way, "--folds", "3")
    assert code == 0
    assert out.splitlines()[0] == "measure\tper recording\t95 %\tper window\t95 %"
    assert "label\texamples\tprecision\trecall\tF1\tAUC\tECE" in out
    assert "tone\t6\t" in out


def test_one_window_a_recording_is_evaluated_once(command, small, way):
    _, out, _ = command("evaluate", small / "corpus", *way, "--folds", "3", "--window", 5, "--hop", 5)
    assert out.splitlines()[0] == "measure\tper recording\t95 %"


def test_a_model_is_evaluated_for_programs(command, model_file, new):
    code, out, err = command("evaluate", model_file, new, "--json")
    said = json.loads(out)
    judged = evaluate_model(load_model(model_file), new)
    y, P = judged.dataset.y, judged.P
    assert (code, err) == (0, "")
    measures = said["windows"]["measures"]
    assert measures["accuracy"]["value"] == pytest.approx(accuracy_score(y, P.argmax(axis=1)))
    assert measures["log_loss"]["value"] == pytest.approx(log_loss(y, P))
    assert said["machines"] == load_model(model_file).classifier.n_machines


def test_a_corpus_that_trained_the_model_is_warned_of(command, small, model_file):
    code, _, err = command("evaluate", model_file, small / "corpus")
    assert code == 0
    assert err.startswith(f"warning: {model_file} was trained on this very corpus: these figures say nothing")


@pytest.fixture
def unsure(small, tmp_path):
    """Pairs from few recordings: right, and never quite sure."""
    path = tmp_path / "unsure.audioclass"
    save_model(train_small(small, strategy="one_vs_one").model, path)
    return path


def test_gates_fail_what_is_not_good_enough(command, unsure, new):
    assert command("evaluate", unsure, new, "--min-accuracy", 0, "--max-ece", 1)[0] == 0
    code, _, err = command("evaluate", unsure, new, "--max-ece", 0)
    assert code == 1
    assert re.fullmatch(r"expected calibration error 0\.\d{4} is above 0\n", err)
    (new / "tone").rename(new / "tones")
    (new / "noise").rename(new / "tone")
    (new / "tones").rename(new / "noise")
    code, _, err = command("evaluate", unsure, new, "--min-accuracy", 0.9)
    assert code == 1
    assert re.fullmatch(r"accuracy 0\.\d{4} is below 0\.9\n", err)


@pytest.mark.parametrize(("option", "value"), [("--strategy", "dag"), ("--window", 3), ("--folds", "groups")])
def test_options_of_training_are_refused_with_a_model(command, model_file, new, option, value):
    code, _, err = command("evaluate", model_file, new, option, value)
    assert (code, err) == (2, f"{option} cannot be given with a model: it is evaluated as it is\n")


def test_three_paths_are_too_many(command, model_file, new):
    assert command("evaluate", model_file, new, new)[::2] == (
        2,
        "3 paths; give a model and a corpus, or a corpus alone\n",
    )


def test_a_model_alone_is_not_taken_for_a_corpus(command, model_file):
    message = f"{model_file}: a model is evaluated on a corpus, which must be given after it\n"
    assert command("evaluate", model_file)[::2] == (2, message)


def test_a_damaged_recording_is_named(command, model_file, new):
    (new / "tone" / "bad.wav").write_text("no audio")
    code, _, err = command("evaluate", model_file, new)
    assert code == 1
    assert err == f"{new / 'tone' / 'bad.wav'}: the file is text, not audio\n"


@pytest.fixture
def report(command, model_file, tmp_path):
    """The page of a model on recordings that are hard for it."""
    corpus = write_corpus(tmp_path / "hard", 4, first=26)
    assert command("evaluate", model_file, corpus, "--report", "report.html")[0] == 0
    return tmp_path / "report.html", evaluate_model(load_model(model_file), corpus)


def per_clip(judged):
    clips = np.unique(judged.dataset.clip_names)
    rows = [np.flatnonzero(np.array(judged.dataset.clip_names) == clip) for clip in clips]
    return np.array([judged.dataset.y[r[0]] for r in rows]), np.array(
        [judged.pool(judged.P[r], np.ones(len(r))) for r in rows]
    )


def test_the_numbers_of_the_page_are_those_of_scikit_learn(report):
    path, judged = report
    text = path.read_text(encoding="utf-8")
    y, P = per_clip(judged)
    summary = {row[0]: row[1] for row in rows(text, "summary")[1:]}
    assert summary["accuracy"] == f"{accuracy_score(y, P.argmax(axis=1)):.3f}"
    assert summary["log-loss (nats)"] == f"{log_loss(y, P):.3f}"
    said = json.loads(re.search(r'id="evaluation">(.*?)</script>', text, re.DOTALL)[1])
    assert said["recordings"]["measures"]["log_loss"]["value"] == pytest.approx(log_loss(y, P))
    expected = confusion_matrix(y, P.argmax(axis=1), labels=range(3))
    assert np.array_equal(np.array(said["recordings"]["confusion"], float), expected)


def test_the_page_shows_the_tree_and_the_players_in_a_browser(report):
    path, _ = report
    with shown(path) as (page, complaints):
        assert page.locator(".tree svg circle").count() >= 5
        assert page.locator(".tree svg text.label").all_text_contents() == ["clicks", "noise", "tone"]
        assert page.locator("audio").count() > 0
        assert page.locator("#per-recording").is_visible()
    assert not complaints


def test_strategies_are_compared(command, small, way):
    systems = ["--with", "one_vs_one", "--strategy", "dag", "--with", "one_vs_rest"]
    code, out, err = command("compare", small / "corpus", *systems, *way, "--folds", "3", "--report", "c.html")
    assert (code, err) == (0, "c.html: written\n")
    assert out.splitlines()[0].startswith("system\taccuracy\tlog-loss\tECE\ttrain seconds")
    assert "p mcnemar" in out
    assert "one_vs_one\tdag\t" in out


def test_models_are_compared(command, model_file, unsure, new):
    code, out, _ = command("compare", new, "--with", model_file, "--with", unsure, "--json")
    assert code == 0
    assert [system["name"] for system in json.loads(out)["systems"]] == ["small", "unsure"]


def test_what_cannot_be_compared_is_one_line(command, model_file, unsure, new):
    assert command("compare", new, "--with", model_file, "--with", "dag")[2] == (
        "strategies and model files cannot be compared with one another; give only one sort\n"
    )
    assert "at least 2 are needed to compare" in command("compare", new, "--with", model_file)[2]
    assert (
        "cannot be given with a model"
        in command("compare", new, "--with", model_file, "--with", unsure, "--trainer", "svm")[2]
    )
