"""Damaged recordings and entries of the cache, as a user meets them: told of in one line, and the rest is done."""

import csv
import io
import json
import shutil
import sys

import numpy as np
import pytest
import soundfile
from trained import QUICK, RATE, sound, write_corpus

import audioclass
from audioclass.cli import run
from audioclass.errors import AudioFileError


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
    fixed = ["--recipe", str(small / "small.toml"), *QUICK, "--cache", str(tmp_path / "cache")]
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


@pytest.fixture
def cut(tmp_path):
    """A recording of six seconds whose second half is lost."""
    path = tmp_path / "cut.wav"
    soundfile.write(path, np.concatenate([sound("tone", 1, 3.0), sound("noise", 1, 3.0)]), RATE)
    path.write_bytes(path.read_bytes()[: 44 + 2 * RATE * 3])
    return path


CUT = "ends after 3.00 s of the 6.00 s it declares"


@pytest.mark.parametrize("options", [[], ["--jobs", "2"], ["--resume"], ["--windows"]])
def test_a_cut_recording_is_classified_up_to_there(cut, model_file, tmp_path, capsys, options):
    soundfile.write(tmp_path / "whole.wav", sound("noise", 1), RATE)
    output, files = tmp_path / "x.csv", [str(cut), str(tmp_path / "whole.wav")]
    assert run(["classify", *files, "-m", str(model_file), "-o", str(output), *options]) == 1
    error = capsys.readouterr().err
    assert f"{cut}: {CUT}; classified up to there" in error
    assert "2 of 2 recordings" in error
    rows = read_rows(output)
    assert {(row["file"], row["cut"]) for row in rows} == {(files[0], "3.000000"), (files[1], "")}
    assert max(float(row["end"]) for row in rows if row["cut"]) == 3.0


def test_where_it_is_strict_a_cut_recording_is_refused(cut, model_file, small, tmp_path, capsys):
    assert run(["classify", str(cut), "-m", str(model_file), "--strict"]) == 1
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    assert f"{cut}: {CUT}\n0 of 1 recordings" in captured.err
    extract = ["extract", str(cut), "--recipe", str(small / "small.toml"), "--cache", str(tmp_path / "cache")]
    for options, rows in ((["--strict"], 0), ([], 1), (["--strict"], 0), ([], 1)):  # the cache changes nothing
        assert run([*extract, *options]) == 1
        captured = capsys.readouterr()
        assert len(captured.out.splitlines()) == 1 + rows
        assert (f"{cut}: {CUT}; features up to there" in captured.err) == bool(rows)


def test_json_tells_of_a_cut(cut, model_file, tmp_path):
    for name in ("x.json", "x.jsonl"):
        assert run(["classify", str(cut), "-m", str(model_file), "-o", str(tmp_path / name)]) == 1
    assert {row["cut"] for row in json.loads((tmp_path / "x.json").read_text())["segments"]} == {3.0}
    assert {json.loads(line)["cut"] for line in (tmp_path / "x.jsonl").read_text().splitlines()} == {3.0}


def test_a_report_tells_of_a_cut(cut, model_file, tmp_path):
    assert run(["classify", str(cut), "-m", str(model_file), "--report", str(tmp_path / "x.html")]) == 1
    assert "(damaged: up to 3.00 s)" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("options", [[], ["--follow"]], ids=["classify", "follow"])
def test_a_stream_that_was_cut_is_classified_up_to_there(cut, model_file, monkeypatch, capsys, options):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(cut.read_bytes())))
    assert run(["classify", "-", "-m", str(model_file), *options]) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1].split("\t")[2] == "3.000"
    assert f"standard input: {CUT}; classified up to there" in captured.err


def test_in_python_a_cut_is_in_the_result_and_a_warning(cut, model_file, small):
    with pytest.warns(UserWarning, match=f"{CUT}; classified up to there"):
        result = audioclass.classify(cut, model_file)
    assert result.cuts[str(cut)].seconds == 3.0
    with pytest.warns(UserWarning, match=f"{CUT}; features up to there"):
        audioclass.extract(cut, str(small / "small.toml"))
    for function in (audioclass.classify, audioclass.extract):
        with pytest.raises(AudioFileError, match=CUT):
            function(cut, strict=True)


def test_training_uses_the_labels_before_a_cut_and_no_label_of_all(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "corpus", 3)
    whole = corpus / "tone" / "whole.wav"
    soundfile.write(whole, sound("tone", 9, 2.0), RATE)
    whole.write_bytes(whole.read_bytes()[: 44 + 2 * RATE])
    fixed = ["--recipe", str(small / "small.toml"), *QUICK, "--cache", str(tmp_path / "cache")]
    for command in ("train", "evaluate"):
        assert run([command, str(corpus), *fixed]) == 1
        reason = "ends after 1.00 s of the 2.00 s it declares; not used, for what is labelled reaches beyond"
        assert f"{whole}: {reason}" in capsys.readouterr().err
    assert run(["train", str(corpus), *fixed, "--strict"]) == 1
    assert f"{whole}: ends after 1.00 s of the 2.00 s it declares\n" in capsys.readouterr().err
