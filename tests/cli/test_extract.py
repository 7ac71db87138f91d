import json
import subprocess
import sys

import numpy as np
import pytest
import soundfile
from signals import noise

from audioclass.cli import run
from audioclass.engine.features import extract


@pytest.fixture
def recording(tmp_path):
    soundfile.write(tmp_path / "écho.wav", noise(3.2), 16000)
    return tmp_path / "écho.wav"


def test_a_recording_is_listed_with_its_windows(recording, tmp_path, capsys):
    assert run(["extract", str(recording), "--cache", str(tmp_path / "cache")]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1].split("\t")[1:3] == ["3.20", "2"]
    assert "1 of 1 recordings, 3 s of audio" in captured.err
    assert run(["extract", str(recording), "--cache", str(tmp_path / "cache")]) == 0
    assert "(1 from the cache)" in capsys.readouterr().err


def test_without_a_cache_nothing_is_kept(recording, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert run(["extract", str(recording), "--no-cache"]) == 0
    assert not (tmp_path / "home").exists()
    assert run(["extract", str(recording)]) == 0
    assert list((tmp_path / "home" / "audioclass" / "features").rglob("*.zip"))


@pytest.mark.parametrize("recipe", ["broadcast", "environment22", "music"])
def test_a_pipe_gives_the_bits_of_the_file(recording, tmp_path, recipe):
    command = [sys.executable, "-m", "audioclass", "extract", "-", "--recipe", recipe, "-o", str(tmp_path / "p.npz")]
    done = subprocess.run(command, input=recording.read_bytes(), capture_output=True, check=True)
    assert b"1 of 1 recordings" in done.stderr
    assert np.array_equal(np.load(tmp_path / "p.npz")["X"], extract(recording, recipe).X)


def test_csv_goes_to_standard_output(recording):
    command = [sys.executable, "-m", "audioclass", "extract", str(recording), "--no-cache", "-o", "-"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[0].startswith("file,start,end,shape.level_mean")
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--recipe", "brodcast"], "unknown recipe 'brodcast'; did you mean 'broadcast'?"),
        (["-o", "out.xls"], "out.xls: unknown format '.xls'"),
        (["-o", "/no/where/out.csv"], "/no/where: not a folder"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_two(recording, capsys, arguments, message):
    assert run(["extract", str(recording), *arguments]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.startswith(message)


def test_a_folder_without_recordings_is_wrong_use(tmp_path, capsys):
    assert run(["extract", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{tmp_path}: no recordings found\n"


def test_a_missing_recording_is_listed(tmp_path, capsys):
    assert run(["extract", str(tmp_path / "no.wav"), "--no-cache"]) == 1
    assert f"{tmp_path / 'no.wav'}: no such file\n" in capsys.readouterr().err


def test_recipes_are_listed_and_shown(capsys):
    assert run(["recipes"]) == 0
    listed = capsys.readouterr().out
    assert "broadcast\t16000 Hz\t2 s\t" in listed
    assert "music\t22050 Hz\t10 s\t" in listed
    assert run(["recipes", "environment"]) == 0
    shown = capsys.readouterr().out
    assert 'group = "ripples"' in shown
    assert run(["recipes", "environment", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sample_rate"] == 44100


def test_a_recipe_of_ones_own_is_used(recording, tmp_path, capsys):
    run(["recipes", "broadcast"])
    (tmp_path / "mine.toml").write_text(capsys.readouterr().out.replace("window = 2.0", "window = 1.0"))
    assert run(["extract", str(recording), "--no-cache", "--recipe", str(tmp_path / "mine.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["windows"] == 3
