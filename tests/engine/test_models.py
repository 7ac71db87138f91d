"""A name is a name, a path is a path: what lies in the working directory hides no shipped model."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from trained import write_corpus

from audioclass.classifier.saving import save_model
from audioclass.cli import run
from audioclass.engine.models import DEFAULT_MODEL, ModelFile, load_model, loaded, model_path
from audioclass.errors import ModelError, UsageError


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_folder(path: Path) -> None:
    path.mkdir()


def a_text(path: Path) -> None:
    path.write_text("no model")


@pytest.mark.parametrize("make", [a_folder, a_text])
def test_the_name_of_a_shipped_model_is_that_model(make, here, capsys):
    make(here / DEFAULT_MODEL)
    assert load_model(DEFAULT_MODEL).name == DEFAULT_MODEL
    assert run(["model", "show", DEFAULT_MODEL]) == 0
    assert capsys.readouterr().out.startswith(f"{DEFAULT_MODEL}: ")


def test_another_model_of_that_name_is_given_by_a_path(here, model_file):
    shutil.copy(model_file, here / DEFAULT_MODEL)
    shutil.copy(model_file, here / "other")
    assert load_model(DEFAULT_MODEL).name == DEFAULT_MODEL
    assert load_model(f"./{DEFAULT_MODEL}").name == "small"
    assert load_model("other").name == "small"


def test_a_folder_is_no_model(here):
    (here / "models").mkdir()
    with pytest.raises(ModelError, match=r"^models: a folder, must be a model file$"):
        load_model("models")


@pytest.mark.parametrize("name", ["x" * 300, "none/at/all", "broadcst"])
def test_what_is_not_there_is_one_line(name, here):
    with pytest.raises((UsageError, ModelError)) as caught:
        load_model(name)
    assert "\n" not in str(caught.value)


def test_a_shipped_model_is_compared_by_its_name(here, model_file, capsys):
    corpus = write_corpus(here / "corpus", 2)
    (here / DEFAULT_MODEL).mkdir()
    assert run(["compare", str(corpus), "--with", DEFAULT_MODEL, "--with", str(model_file)]) != 0
    assert "strategies and model files" not in capsys.readouterr().err


def test_the_names_of_recipes_and_readers_are_not_hidden_either(here, capsys):
    for name in ("environment22", "learn", "csv", "folders"):
        (here / name).mkdir()
    corpus = write_corpus(here / "corpus", 1)
    assert run(["extract", str(corpus), "--recipe", "environment22", "-o", "-", "--no-cache"]) == 0
    assert run(["corpus", "stats", str(corpus), "--reader", "folders"]) == 0
    capsys.readouterr()


def test_the_path_is_there_while_it_is_needed():
    with model_path(DEFAULT_MODEL) as path:
        assert path.is_file()


def test_a_model_is_read_again_where_its_file_has_changed(trained, model_file, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    save_model(replace(trained.model, name="other"), tmp_path / "other" / "m.audioclass")
    path = tmp_path / "m.audioclass"
    shutil.copyfile(model_file, path)
    monkeypatch.chdir(tmp_path)
    first = loaded("m.audioclass")
    assert loaded("m.audioclass") is first
    save_model(replace(trained.model, name="second"), path)
    assert loaded("m.audioclass").name == "second"
    monkeypatch.chdir(tmp_path / "other")
    assert loaded("m.audioclass").name == "other"


def test_a_batch_keeps_the_model_that_it_has_read(trained, tmp_path):
    path = tmp_path / "m.audioclass"
    save_model(trained.model, path)
    file = ModelFile.of(path)
    first = file.load()
    save_model(replace(trained.model, name="second"), path)
    assert file.load() is first
