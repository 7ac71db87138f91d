"""Damaged recordings and entries of the cache, as a user meets them: told of in one line, and the rest is done."""

import csv
import io
import shutil
import sys

import numpy as np
import pytest
import soundfile
from trained import RATE, sound, write_corpus

from audioclass.cli import run


def write_flipped(path, label="tone"):
    """A float recording of which one bit was flipped: a finite sample of about 1e38."""
    samples = sound(label, 3).astype(np.float32)
    samples[1000] = 0.5
    samples.view(np.uint32)[1000] ^= 1 << 30
    soundfile.write(path, samples, RATE, subtype="FLOAT")


@pytest.fixture
def batch(tmp_path):
    """A folder of two good recordings and one with a flipped bit between them."""
    folder = tmp_path / "batch"
    folder.mkdir()
    for name, label in (("a", "tone"), ("c", "noise")):
        soundfile.write(folder / f"{name}.wav", sound(label, 1), RATE)
    write_flipped(folder / "b.wav")
    return folder


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("options", [[], ["--jobs", "2"], ["--resume"]], ids=["one job", "two jobs", "resumed"])
def test_a_flipped_bit_does_not_stop_a_batch(batch, model_file, tmp_path, capsys, options):
    output = tmp_path / "x.csv"
    assert run(["classify", str(batch), "-m", str(model_file), "-o", str(output), *options]) == 1
    assert "b.wav: sample 1000 is 1.7e+38, must be within ±4.29e+09" in capsys.readouterr().err
    assert {row["file"] for row in read_rows(output)} == {str(batch / "a.wav"), str(batch / "c.wav")}


def test_a_flipped_bit_reaches_no_table_and_no_cache(batch, small, tmp_path, capsys):
    output, cache = tmp_path / "x.csv", tmp_path / "cache"
    command = ["extract", str(batch), "--recipe", str(small / "small.toml"), "-o", str(output), "--cache", str(cache)]
    for _ in range(2):
        assert run(command) == 1
        assert "b.wav: sample 1000 is" in capsys.readouterr().err
        rows = read_rows(output)
        assert {row.pop("file") for row in rows} == {str(batch / "a.wav"), str(batch / "c.wav")}
        assert np.isfinite([[float(value) for value in row.values()] for row in rows]).all()
    assert len(list(cache.rglob("*.zip"))) == 2


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_a_flipped_bit_does_not_stop_a_training(small, tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "corpus", 3)
    write_flipped(corpus / "tone" / "flipped.wav")
    fixed = ["--recipe", str(small / "small.toml"), "--criterion", "fixed", "--cache", str(tmp_path / "cache")]
    assert run([command, str(corpus), *fixed]) == 1
    captured = capsys.readouterr()
    assert "flipped.wav: sample 1000 is" in captured.err
    assert "nan" not in captured.out


def test_a_live_stream_with_a_flipped_bit_ends_in_one_line(batch, model_file, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((batch / "b.wav").read_bytes())))
    assert run(["classify", "--follow", "-", "-m", str(model_file)]) == 1
    assert "standard input: sample 1000 is" in capsys.readouterr().err


@pytest.mark.parametrize("full_scale", [2.0**15, 2.0**31])
def test_floats_that_are_scaled_like_integers_are_read(model_file, tmp_path, full_scale):
    path = tmp_path / "scaled.wav"
    soundfile.write(path, (sound("tone", 1) * full_scale).astype(np.float32), RATE, subtype="FLOAT")
    assert run(["classify", str(path), "-m", str(model_file)]) == 0


def test_damaged_entries_of_the_cache_are_computed_again(batch, small, tmp_path, capsys):
    (batch / "b.wav").unlink()
    cache, output = tmp_path / "cache", tmp_path / "x.csv"
    command = ["extract", str(batch), "--recipe", str(small / "small.toml"), "-o", str(output), "--cache", str(cache)]
    assert run(command) == 0
    expected, entries = output.read_bytes(), sorted(cache.rglob("*.zip"))
    content = entries[0].read_bytes()
    place = content.index(b"X") + 40
    entries[0].write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    shutil.copy(entries[0], entries[1])
    assert run(command) == 0
    assert output.read_bytes() == expected
    assert "from the cache" not in capsys.readouterr().err
    assert run(command) == 0
    assert "(2 from the cache)" in capsys.readouterr().err
