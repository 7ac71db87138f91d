"""Names of files as users have them: hostile, too long, no text, behind links and closed doors."""

import csv
import json
import os
import shutil
import sys
from contextlib import nullcontext

import pytest
from cli.test_screen import Terminal

from audioclass.cli import run, screen
from audioclass.recordings import find_recordings

ESCAPE, FORGED = "\x1b]0;owned\x07.wav", "a\nb: forged message.wav"
CONTROLS = [chr(number) for number in (*range(9), *range(11, 32), *range(127, 160))]


@pytest.fixture
def recording(small):
    return small / "corpus" / "tone" / "tone-0.wav"


@pytest.fixture
def hostile(tmp_path, recording):
    """A folder of two recordings with hostile names, and the same two damaged."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in (ESCAPE, FORGED):
        shutil.copy(recording, folder / name)
        (folder / f"bad {name}").write_bytes(b"RIFF")
    return folder


@pytest.mark.parametrize("is_terminal", [False, True])
@pytest.mark.parametrize("command", ["classify", "classify -f csv -o -", "extract", "extract -o -", "extract --json"])
def test_names_never_act_on_a_terminal(hostile, small, model_file, monkeypatch, capsys, command, is_terminal):
    if is_terminal:
        monkeypatch.setenv("COLUMNS", "300")
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr(sys, "stdout", Terminal())
        monkeypatch.setattr(sys, "stderr", Terminal())
        monkeypatch.setattr(screen, "_bars", lambda: nullcontext(lambda *_: None))
    name, *options = command.split()
    using = ["-m", str(model_file)] if name == "classify" else ["--recipe", str(small / "small.toml"), "--no-cache"]
    assert run([name, str(hostile), *using, *options]) == 1
    captured = capsys.readouterr()
    out, err = (sys.stdout.getvalue(), sys.stderr.getvalue()) if is_terminal else captured
    assert not [character for character in CONTROLS if character in err]
    assert not [line for line in err.splitlines() if line.startswith("b: forged")]
    assert r"\x1b]0;owned\x07.wav" in err
    assert r"a\nb: forged message.wav" in err
    if is_terminal or ("csv" not in command and "-o" not in command):
        assert not [character for character in CONTROLS if character in out]


def test_results_in_files_have_the_true_name(hostile, tmp_path, model_file, small):
    output = tmp_path / "out.csv"
    good = [str(hostile / name) for name in (ESCAPE, FORGED)]
    assert run(["classify", *good, "-m", str(model_file), "-o", str(output)]) == 0
    with output.open(newline="") as stream:
        assert {row["file"] for row in csv.DictReader(stream)} == set(good)


def test_progress_shows_names(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with screen.progress() as progress:
        progress(ESCAPE, 1, 3)
    assert "\x1b]0;" not in sys.stderr.getvalue()
    assert r"\x1b]0;owned" in sys.stderr.getvalue()


def test_a_name_that_is_no_text_is_spelt_one_way(tmp_path, recording, small, model_file, capsys):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.wav")
    try:
        shutil.copy(recording, path)
    except OSError:
        pytest.skip("the file system takes no such names")
    (tmp_path / os.fsdecode(b"bad\xe9.wav")).write_bytes(b"RIFF")
    using = ["--recipe", str(small / "small.toml"), "--no-cache"]
    for command in (["classify", "-m", str(model_file)], ["classify", "-m", str(model_file), "-f", "json"]):
        assert run([*command, str(tmp_path)]) == 1
        captured = capsys.readouterr()
        assert r"caf\xe9.wav" in captured.out.replace("\\\\", "\\")
        assert r"bad\xe9.wav" in captured.err
        assert "udce9" not in captured.out + captured.err
    for options in ([], ["-o", "-"], ["--json"]):
        assert run(["extract", str(tmp_path), *using, *options]) == 1
        captured = capsys.readouterr()
        assert r"caf\xe9.wav" in captured.out.replace("\\\\", "\\")
        assert "udce9" not in captured.out + captured.err
    assert json.loads(captured.out)["files"][1]["file"].endswith(r"caf\xe9.wav")


LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["classify", LONG],
        ["classify", f"{LONG}/a.wav"],
        ["classify", "RECORDING", "-m", LONG],
        ["classify", "RECORDING", "-m", "MODEL", "-o", f"{LONG}.csv"],
        ["classify", "RECORDING", "-m", "MODEL", "--report", f"{LONG}.html"],
        ["extract", LONG],
        ["extract", "RECORDING", "-o", f"{LONG}/a.csv"],
        ["extract", "RECORDING", "--recipe", f"{LONG}.toml"],
        ["train", LONG],
        ["train", "CORPUS", "-o", LONG],
        ["train", "CORPUS", "--taxonomy", LONG],
        ["train", "CORPUS", "--config", LONG],
        ["train", "CORPUS", "--tree", f"{LONG}.toml"],
        ["evaluate", LONG],
        ["evaluate", "MODEL", LONG],
        ["corpus", "check", LONG],
        ["corpus", "split", "CORPUS", "-o", LONG],
        ["model", "show", LONG],
        ["tree", "export", "MODEL", "-o", f"{LONG}.toml"],
        ["recipes", f"{LONG}.toml"],
    ],
    ids=lambda words: " ".join(words).replace(LONG, "LONG"),
)
def test_a_name_that_no_file_can_have_is_one_line(
    arguments, small, recording, model_file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    names = {"RECORDING": recording, "MODEL": model_file, "CORPUS": small / "corpus"}
    assert run([str(names.get(word, word)) for word in arguments]) in (1, 2)
    errors = capsys.readouterr().err.splitlines()
    assert LONG in errors[0]
    assert len(errors) == 1 or errors[1].startswith("0 of 1 recordings")


@pytest.fixture
def closed(tmp_path, recording, monkeypatch):
    """A folder with an open and a closed folder in it; closed for us alone, since root enters everywhere."""
    for name in ("open", "closed"):
        (tmp_path / "tree" / name).mkdir(parents=True)
        shutil.copy(recording, tmp_path / "tree" / name / "a.wav")
    scandir = os.scandir

    def refusing(path="."):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    return tmp_path / "tree"


def test_a_closed_folder_is_not_passed_over(closed, small, model_file, capsys):
    assert run(["classify", str(closed), "-m", str(model_file)]) == 1
    captured = capsys.readouterr()
    assert str(closed / "open" / "a.wav") in captured.out
    assert f"{closed / 'closed'}: a folder that cannot be entered: Permission denied" in captured.err
    assert "1 of 2 recordings" in captured.err


@pytest.mark.parametrize("command", ["train", "evaluate", "corpus check"])
def test_a_corpus_with_a_closed_folder_is_refused(closed, capsys, command):
    assert run([*command.split(), str(closed)]) == 1
    assert capsys.readouterr().err == f"{closed / 'closed'}: cannot be entered: Permission denied\n"


def test_links_to_folders_are_followed_once(tmp_path, recording):
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(recording, tmp_path / "elsewhere" / "a.wav")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "tree" / "twin").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "tree" / "loop").symlink_to(tmp_path / "tree")
    assert find_recordings([tmp_path / "tree"]) == [tmp_path / "tree" / "link" / "a.wav"]
