"""`--depth` as a user types it."""

import io
import json
import sys
import types

import pytest
import soundfile
from trained import RATE, mixture, sound
from trees_of_sounds import with_tree

from audioclass.classifier.saving import save_model
from audioclass.cli import run


@pytest.fixture(scope="module")
def place(tmp_path_factory, trained):
    """A recording, and a model that tells groups where nobody states a depth."""
    folder = tmp_path_factory.mktemp("depth")
    soundfile.write(folder / "a.wav", mixture(), RATE)
    save_model(with_tree(trained.model, 1), folder / "told.audioclass")
    return folder


def classified(place, capsys, *options):
    assert run(["classify", str(place / "a.wav"), "-m", str(place / "told.audioclass"), *options]) == 0
    return capsys.readouterr().out


def labels(text, column=3):
    return [line.split("\t")[column] for line in text.splitlines()[1:]]


def test_groups_are_told_by_default_and_labels_on_request(place, capsys):
    assert labels(classified(place, capsys)) == ["tone", "rough", "tone"]
    assert labels(classified(place, capsys, "--depth", "2")) == ["tone", "noise", "clicks", "tone"]
    assert set(labels(classified(place, capsys, "--windows", "--depth", "1"))) == {"rough", "tone"}
    assert set(labels(classified(place, capsys), 5)) == {"rough", "tone"}  # the runner-up


def test_files_have_columns_of_the_groups(place, capsys):
    rows = json.loads(classified(place, capsys, "-f", "json"))
    text = json.dumps(rows)
    assert '"rough"' in text
    assert '"clicks"' not in text


def test_a_batch_goes_on_where_it_stopped(place, capsys, tmp_path):
    output = tmp_path / "x.csv"
    classified(place, capsys, "-o", str(output), "--resume")
    first = output.read_text(encoding="utf-8")
    classified(place, capsys, "-o", str(output), "--resume", "--depth", "1")
    assert output.read_text(encoding="utf-8") == first
    assert "clicks" not in first


def test_a_page_shows_the_groups(place, capsys, tmp_path):
    classified(place, capsys, "--report", str(tmp_path / "a.html"))
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "rough" in page
    assert "clicks" not in page


@pytest.mark.parametrize("options", [[], ["--provisional"]], ids=["final", "provisional"])
def test_a_live_stream_tells_the_groups(place, capsys, monkeypatch, options):
    stdin = types.SimpleNamespace(buffer=io.BytesIO((place / "a.wav").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run(["classify", "-", "--follow", "-m", str(place / "told.audioclass"), *options]) == 0
    assert set(labels(capsys.readouterr().out)) == {"rough", "tone"}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--depth", "0"], "depth=0 must be a whole number of at least 1"),
        (["--depth", "-3"], "depth=-3 must be a whole number of at least 1"),
        (["--depth", "1", "--risk", "0.1"], "depth=1: risk is that of sets of labels, told at depth 2 alone"),
    ],
)
def test_what_cannot_be_told_is_refused_in_one_line(place, capsys, options, line):
    assert run(["classify", str(place / "a.wav"), "-m", str(place / "told.audioclass"), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [line]


@pytest.mark.parametrize("command", [["classify"], ["evaluate"], ["index", "add"], ["index", "segment"]], ids=" ".join)
def test_the_help_names_it(command, capsys):
    run([*command, "--help"])
    assert "--depth" in capsys.readouterr().out


def test_a_model_says_what_it_tells_by_default(place, capsys):
    assert run(["model", "show", str(place / "told.audioclass")]) == 0
    assert "tells 2 labels by default (rough, tone), all 3 with --depth 2" in capsys.readouterr().out
    assert run(["model", "card", str(place / "told.audioclass")]) == 0
    assert "Tells 2 labels by default (rough, tone), all 3 with `--depth 2`." in capsys.readouterr().out


def test_a_corpus_of_groups_is_evaluated(place, capsys, tmp_path):
    for group, label in (("rough", "noise"), ("tone", "tone")):
        (tmp_path / group).mkdir()
        for number in range(20, 23):
            soundfile.write(tmp_path / group / f"{number}.wav", sound(label, number), RATE)
    command = ["evaluate", str(place / "told.audioclass"), str(tmp_path), "--json"]
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == ["rough", "tone"]
    assert run([*command, "--depth", "2"]) == 1
    assert "the model has no label 'rough'" in capsys.readouterr().err
    assert run([*command, "--depth", "0"]) == 2
    assert run(["evaluate", str(tmp_path), "--depth", "1"]) == 2
    assert "--depth is that of a model: give one before the corpus" in capsys.readouterr().err
