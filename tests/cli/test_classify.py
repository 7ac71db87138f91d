"""`audioclass classify` as a user types it."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
import soundfile
from trained import LABELS, RATE, mixture, sound

from audioclass.cli import run

COMMAND = [sys.executable, "-m", "audioclass", "classify"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "mélange.wav"
    soundfile.write(path, mixture(), RATE)
    return path


def lines(text):
    head, *rows = (line.split("\t") for line in text.splitlines())
    assert head[:5] == ["file", "start", "end", "label", "posterior"]
    return rows


def test_in_a_pipe_it_prints_lines(recording, model_file, capsys):
    assert run(["classify", str(recording), "--model", str(model_file)]) == 0
    out, err = capsys.readouterr()
    rows = lines(out)
    assert [row[3] for row in rows] == ["tone", "noise", "clicks", "tone"]
    assert rows[0][0] == str(recording)
    assert all(float(row[4]) > float(row[6]) for row in rows)
    assert "times faster than real time" in err


def test_file_pipe_and_follow_print_the_same(recording, model_file):
    content = recording.read_bytes()
    ask = [*COMMAND, "--model", str(model_file)]
    file = subprocess.run([*ask, str(recording)], check=True, capture_output=True, text=True).stdout
    pipe = subprocess.run([*ask, "-"], check=True, capture_output=True, input=content).stdout.decode()
    follow = subprocess.run([*ask, "--follow", "-"], check=True, capture_output=True, input=content).stdout.decode()
    own = [row[1:] for row in lines(file)]
    assert [row[1:] for row in lines(pipe)] == own
    assert [row[1:] for row in lines(follow)] == own


def test_segments_of_a_live_stream_come_before_it_ends(recording, model_file):
    content = recording.read_bytes()
    ask = [*COMMAND, "--model", str(model_file), "--smooth", "none", "--follow", "-"]
    with subprocess.Popen(ask, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(content[: len(content) * 3 // 4])
        process.stdin.flush()
        first = [process.stdout.readline().decode() for _ in range(2)]
        process.stdin.close()
        rest = process.stdout.read().decode()
    assert first[1].split("\t")[3] == "tone"
    assert [line.split("\t")[3] for line in rest.splitlines()][:1] == ["noise"]


@pytest.mark.parametrize("jobs", ["2", "4"])
def test_jobs_do_not_matter(model_file, tmp_path, jobs):
    folder = tmp_path / "all"
    folder.mkdir()
    for i in range(5):
        soundfile.write(folder / f"{i}.wav", sound(LABELS[i % 3], i, 2.0), RATE)
    for name, count in (("one", "1"), ("many", jobs)):
        out = tmp_path / f"{name}.csv"
        assert run(["classify", str(folder), "-m", str(model_file), "--windows", "-o", str(out), "--jobs", count]) == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()


def test_the_suffix_tells_the_format(recording, model_file, tmp_path):
    out = tmp_path / "labels.TextGrid"
    assert run(["classify", str(recording), "-m", str(model_file), "-o", str(out)]) == 0
    assert 'Object class = "TextGrid"' in out.read_text(encoding="utf-8")


def test_a_format_can_go_to_standard_output(recording, model_file, capsys):
    assert run(["classify", str(recording), "-m", str(model_file), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_a_report_is_written(recording, model_file, tmp_path):
    page = tmp_path / "page.html"
    assert run(["classify", str(recording), "-m", str(model_file), "--report", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.wav", "--model", "none.audioclass"], "none.audioclass: no such model file"),
        (["{audio}", "-m", "{model}", "--format", "cvs"], "unknown export 'cvs'; did you mean 'csv'"),
        (["{audio}", "-m", "{model}", "-o", "x.nothing"], "the suffix does not tell one format"),
        (["{audio}", "-m", "{model}", "-o", "/nowhere/x.csv"], "no such folder /nowhere"),
        (["{audio}", "-m", "{model}", "--resume"], "--resume needs -o"),
        (["{audio}", "-m", "{model}", "--follow"], "--follow reads a stream"),
        (["{folder}", "-m", "{model}"], "no recordings found"),
    ],
)
def test_wrong_use_is_one_line(recording, model_file, tmp_path, capsys, arguments, message):
    said = {"audio": recording, "model": model_file, "folder": tmp_path}
    assert run(["classify", *(argument.format(**said) for argument in arguments)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_bad_recording_costs_only_itself(recording, model_file, tmp_path, capsys):
    (tmp_path / "bad.wav").write_text("no audio")
    assert run(["classify", str(tmp_path / "bad.wav"), str(recording), "-m", str(model_file)]) == 1
    out, err = capsys.readouterr()
    assert len(lines(out)) == 4
    assert "bad.wav" in err
    assert "1 of 2 recordings" in err


def write_batch(folder, n, n_bad):
    folder.mkdir()
    for i in range(n):
        path = folder / f"{i:03}.wav"
        if i % (n // n_bad) == 3:
            path.write_bytes(b"RIFF damaged")
        else:
            soundfile.write(path, sound(LABELS[i % 3], i % 7, 0.6), RATE)


def test_a_batch_that_is_killed_twice_goes_on(model_file, tmp_path):
    write_batch(tmp_path / "all", 300, 15)
    out, ledger = tmp_path / "out.csv", tmp_path / ".out.csv.ledger"
    ask = [*COMMAND, str(tmp_path / "all"), "-m", str(model_file), "-o", str(out), "--resume"]
    seen = []
    for wanted in (100, 200):
        with subprocess.Popen(ask, stderr=subprocess.DEVNULL) as process:
            while not ledger.exists() or ledger.read_bytes().count(b"\n") < wanted:
                assert process.poll() is None, "it ended before it was killed"
                time.sleep(0.02)
            os.kill(process.pid, signal.SIGKILL)
        assert not out.exists()
        seen.append(ledger.read_bytes().count(b"\n") - 1)
    last = subprocess.run(ask, check=False, capture_output=True, text=True)
    kept = int(re.search(r"\((\d+) from before\)", last.stderr)[1])
    assert last.returncode == 1
    assert kept >= seen[1] - 1  # a line that was cut off is computed again, whole ones never are
    assert sum(".wav:" in line for line in last.stderr.splitlines()) == 15
    with out.open(encoding="utf-8", newline="") as file:
        assert len({row["file"] for row in csv.DictReader(file)}) == 285
    assert not ledger.exists()


def test_a_ledger_of_other_options_is_refused(recording, model_file, tmp_path, capsys):
    out = tmp_path / "out.csv"
    (tmp_path / ".out.csv.ledger").write_text('{"made_with": "another"}\n')
    assert run(["classify", str(recording), "-m", str(model_file), "-o", str(out), "--resume"]) == 2
    assert "made with another model or other options" in capsys.readouterr().err
