import sys
import tomllib
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from audioclass.cli import run
from audioclass.engine.models import load_model
from audioclass.trees.newick import read_newick
from audioclass.trees.reading import read_toml


@pytest.fixture
def here(tmp_path, monkeypatch, model_file):
    """A folder to work in, with the small model in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.audioclass").write_bytes(model_file.read_bytes())
    return tmp_path


def test_the_tree_is_shown(here, capsys):
    assert run(["tree", "show", "m.audioclass"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "group 1"
    assert "└── tone  (log-loss" in lines[-1]


@pytest.mark.parametrize("name", ["t.toml", "t.nwk", "t.svg"])
def test_the_suffix_tells_the_format(here, capsys, name):
    assert run(["tree", "export", "m.audioclass", "-o", name]) == 0
    assert capsys.readouterr().err == f"{name}: written\n"
    text = (here / name).read_text(encoding="utf-8")
    readers = {".toml": read_toml, ".nwk": read_newick, ".svg": ET.fromstring}
    assert readers[name[1:]](text) is not None


@pytest.mark.parametrize("place", [[], ["-o", "-"]])
def test_without_a_file_the_tree_is_printed(here, capsys, place):
    assert run(["tree", "export", "m.audioclass", *place]) == 0
    assert read_toml(capsys.readouterr().out).labels == ("clicks", "noise", "tone")
    assert run(["tree", "export", "m.audioclass", "--format", "newick", *place]) == 0
    assert read_newick(capsys.readouterr().out).labels == ("clicks", "noise", "tone")


def test_an_edited_tree_says_what_is_to_be_trained(here, capsys):
    assert run(["tree", "edit", "m.audioclass", "--group", "steady=noise, tone", "-C", "clicks=3", "-o", "e.toml"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "e.toml: written",
        "1 of 3 machines must be trained again: {clicks}",
        "audioclass train --update m.audioclass --tree e.toml",
    ]
    table = tomllib.loads((here / "e.toml").read_text(encoding="utf-8"))
    assert [node["name"] for node in table["node"]] == ["group 1", "clicks", "steady", "noise", "tone"]


def test_edits_go_on_from_a_file(here, capsys):
    assert run(["tree", "edit", "m.audioclass", "--group", "steady=noise,tone", "-o", "e.toml"]) == 0
    edits = ["--rename", "steady=even", "--kernel", "clicks=gaussian:sigma=2"]
    assert run(["tree", "edit", "m.audioclass", "--tree", "e.toml", *edits]) == 0
    tree = read_toml(capsys.readouterr().out)
    assert "even" in tree.names
    assert {"name": "gaussian", "sigma": 2.0} in [facts["kernel"] for facts in tree.machines.values()]
    assert run(["tree", "edit", "m.audioclass", "--tree", "e.toml", "--merge", "steady"]) == 0
    assert "steady" not in read_toml(capsys.readouterr().out).names
    assert run(["tree", "edit", "m.audioclass", "--tree", "e.toml", "--move", "clicks=steady"]) == 0
    assert read_toml(capsys.readouterr().out).names == ("steady", "clicks", "noise", "tone")
    assert run(["tree", "edit", "m.audioclass", "--tree", "e.toml", "--add", "tone=group 1"]) == 0
    assert read_toml(capsys.readouterr().out).taxonomy.repeated == ("tone",)


def test_edits_are_made_in_the_order_of_the_help(here, capsys):
    assert run(["tree", "edit", "m.audioclass", "--rename", "steady=even", "--group", "steady=noise,tone"]) == 0
    assert "even" in read_toml(capsys.readouterr().out).names


def test_an_edited_tree_is_trained_without_a_corpus(here, capsys):
    assert run(["tree", "edit", "m.audioclass", "-C", "clicks=3", "-o", "e.toml"]) == 0
    assert run(["train", "--update", "m.audioclass", "--tree", "e.toml", "--cache", "-"]) == 0
    new = load_model(here / "m-edited.audioclass")
    assert sorted(machine["C"] for machine in new.about["machines"]) == [3.0, 10.0, 10.0]
    assert "held out by recording, per window" in capsys.readouterr().out


def test_an_unedited_tree_gives_the_same_posteriors(here):
    assert run(["tree", "export", "m.audioclass", "-o", "t.nwk"]) == 0
    assert run(["train", "--update", "m.audioclass", "--tree", "t.nwk", "-o", "n.audioclass", "--cache", "-"]) == 0
    old, new = (load_model(here / f"{name}.audioclass") for name in "mn")
    np.testing.assert_array_equal(new.golden.P, old.golden.P)


def test_an_editor_is_opened(here, capsys, monkeypatch):
    script = here / "edit.py"
    script.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n"
        "path.write_text(path.read_text().replace('C = 10.0', 'C = 4.0', 1))\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert run(["tree", "edit", "m.audioclass"]) == 0
    assert "1 of 3 machines must be trained again" in capsys.readouterr().err
    tree = read_toml((here / "m-tree.toml").read_text(encoding="utf-8"))
    assert sorted(facts["C"] for facts in tree.machines.values()) == [4.0, 10.0, 10.0]
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert run(["tree", "edit", "m.audioclass"]) == 2
    assert "editor 'no-such-editor' failed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "m.audioclass", "--format", "png"], "unknown format of a tree 'png'"),
        (["export", "m.audioclass", "-o", "t.png"], "t.png: suffix '.png' is no format of a tree"),
        (["edit", "m.audioclass"], "no edit is stated, and there is no terminal to open an editor in"),
        (["edit", "m.audioclass", "--move", "tone"], "--move 'tone' must be two names with = between"),
        (["edit", "m.audioclass", "--move", "tone=x"], "unknown group 'x'"),
        (["edit", "m.audioclass", "-C", "tone=-1"], "C=-1 must be positive and finite"),
        (["edit", "m.audioclass", "--kernel", "tone=gausian"], "unknown kernel 'gausian'; did you mean 'gaussian'"),
    ],
)
def test_wrong_use_is_one_line(here, capsys, arguments, message):
    assert run(["tree", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_model_without_a_tree_says_so(capsys):
    assert run(["tree", "show", "broadcast"]) == 2
    assert "broadcast: strategy 'one_vs_rest' has no tree of machines" in capsys.readouterr().err


def test_a_corpus_is_missed(here, capsys):
    assert run(["train", "--update", "m.audioclass"]) == 2
    assert "CORPUS is missing; only --update with --tree goes without" in capsys.readouterr().err
