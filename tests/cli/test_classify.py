"""`audioclass classify` as a user types it."""

import csv
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import types
from dataclasses import replace
from subprocess import DEVNULL, PIPE

import pytest
import soundfile
from browser import shown
from trained import LABELS, RATE, mixture, sound

import audioclass
from audioclass import Taxonomy
from audioclass.classifier.saving import save_model
from audioclass.cli import run
from audioclass.plugins.manager import plugin_manager

COMMAND = [sys.executable, "-m", "audioclass", "classify"]
# The same, killed when it has noted 60 recordings in its ledger.
KILLED = """
import os, signal, sys
from audioclass.cli import run
from audioclass.engine.batches import Ledger

def note_and_end(ledger, outcome):
    note(ledger, outcome)
    noted.append(outcome)
    if len(noted) == 60:
        os.kill(os.getpid(), signal.SIGKILL)

noted = []
note, Ledger.note = Ledger.note, note_and_end
run(["classify", *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "mélange.wav"
    soundfile.write(path, mixture(), RATE)
    return path


def lines(text):
    head, *rows = (line.split("\t") for line in text.splitlines())
    assert head == ["file", "start", "end", "label", "probability", "runner_up", "runner_up_probability"]
    return rows


def test_in_a_pipe_it_prints_lines(recording, model_file, capsys):
    assert run(["classify", str(recording), "--model", str(model_file)]) == 0
    out, err = capsys.readouterr()
    rows = lines(out)
    assert [row[3] for row in rows] == ["tone", "noise", "clicks", "tone"]
    assert rows[0][0] == str(recording)
    assert all(float(row[4]) > float(row[6]) for row in rows)
    assert "times faster than real time" in err


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A minute: several blocks of frames."""
    path = tmp_path_factory.mktemp("live") / "live.wav"
    soundfile.write(path, mixture(("tone", "noise", "clicks", "noise"), 15.0), RATE)
    return path


def own_lines(recording, model_file, capsys, *options):
    """What the file gives, without its name."""
    assert run(["classify", str(recording), "-m", str(model_file), *options]) == 0
    return [row[1:] for row in lines(capsys.readouterr().out)]


def test_a_live_stream_prints_each_segment_of_the_file_as_soon_as_it_is_final(live, model_file, capsys):
    content = live.read_bytes()
    with subprocess.Popen(
        [*COMMAND, "-m", str(model_file), "--follow", "-"], stdin=PIPE, stdout=PIPE, stderr=PIPE
    ) as process:
        process.stdin.write(content[: len(content) * 3 // 4])
        process.stdin.flush()
        early = [process.stdout.readline().decode() for _ in range(2)]  # it would wait forever for a late one
        process.stdin.write(content[len(content) * 3 // 4 :])
        process.stdin.close()
        text = "".join(early) + process.stdout.read().decode()
        assert b"segments are final at most" in process.stderr.read()
    assert [row[1:] for row in lines(text)] == own_lines(live, model_file, capsys)
    assert len(lines(text)) == 4


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg, which is not installed")
def test_posteriors_from_a_pipe_of_ffmpeg_are_those_of_the_file(recording, model_file, capsysbinary, tmp_path):
    options = ["-m", str(model_file), "--windows", "--format", "json"]
    assert run(["classify", str(recording), *options]) == 0
    file = json.loads(capsysbinary.readouterr().out)
    decode = subprocess.Popen(["ffmpeg", "-loglevel", "error", "-i", recording, "-f", "wav", "-"], stdout=PIPE)
    pipe = subprocess.run([*COMMAND, "-", *options], stdin=decode.stdout, stdout=PIPE, check=True)
    decode.stdout.close()
    assert decode.wait() == 0
    piped = json.loads(pipe.stdout)
    for segment in piped["segments"] + file["segments"]:
        segment.pop("file")
    assert piped == file


def test_a_plain_pipe_gives_what_the_file_gives(recording, model_file, capsys, monkeypatch):
    own = own_lines(recording, model_file, capsys)
    with recording.open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BufferedReader(OneWay(stream))))
        assert own_lines("-", model_file, capsys) == own


class OneWay(io.RawIOBase):
    """A stream that cannot go back, as a pipe cannot, and gives a few bytes at a time."""

    def __init__(self, stream):
        self._stream = stream

    def readable(self):
        return True

    def readinto(self, buffer):
        content = self._stream.read(min(len(buffer), 777))
        buffer[: len(content)] = content
        return len(content)


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path, model_file):
    folder = tmp_path / "all"
    write_batch(folder, 30, 1)
    ask = [*COMMAND, str(folder), "-m", str(model_file), "--windows"]
    with subprocess.Popen(ask, stdout=PIPE, stderr=PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_on_a_terminal_it_is_a_coloured_timeline_and_a_table(recording, model_file):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "COLORTERM": "truecolor"}
    ask = [*COMMAND, str(recording), "-m", str(model_file)]
    with subprocess.Popen(ask, stdin=DEVNULL, stdout=theirs, stderr=DEVNULL, env=environment) as process:
        os.close(theirs)
        shown = read_terminal(ours)
    assert process.returncode == 0
    assert shown.count("\x1b[") > 8
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    bar, axis, *rest = plain.splitlines()
    assert [name for name in bar.split() if name.isalpha()] == ["tone", "noise", "clicks", "tone"]
    assert "╵0:10.0" in axis
    table = [line.split() for line in rest if re.match(r"\d+\.\d{3} ", line)]
    assert [row[2] for row in table] == ["tone", "noise", "clicks", "tone"]
    assert "\t" not in plain


def read_terminal(descriptor):
    """Everything until the other side is closed."""
    content = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # what Linux says at the end of a terminal
            part = b""
        if not part:
            os.close(descriptor)
            return content.decode()
        content += part


def test_options_of_smoothing_are_passed_on(recording, model_file, capsys):
    assert len(own_lines(recording, model_file, capsys, "--windows")) > 40
    assert len(own_lines(recording, model_file, capsys, "--min-duration", "100")) == 1
    (doubtful,) = own_lines(recording, model_file, capsys, "--threshold", "1")
    assert doubtful[2:4] == ["unknown", ""]
    assert own_lines(recording, model_file, capsys, "--smooth", "median:width=3") != []
    assert own_lines(recording, model_file, capsys, "--smooth", "hmm:duration=20") != []


def test_doubt_is_named_by_the_group_above(recording, model_file, tmp_path, capsys):
    model = audioclass.load_model(model_file)
    tree = Taxonomy.of({"rough": {"clicks": {}, "noise": {}}, "smooth": {"tone": {}}})
    save_model(replace(model, taxonomy=tree), tmp_path / "groups.audioclass")
    rows = own_lines(recording, tmp_path / "groups.audioclass", capsys, "--windows", "--threshold", "0.99")
    rough = [row for row in rows if row[2] == "rough"]
    assert rough
    assert all(float(row[3]) >= 0.99 and row[4] == "tone" for row in rough)
    assert {row[2] for row in rows} <= {"clicks", "noise", "tone", "rough", "smooth", "unknown"}


def test_help_names_the_formats_without_probabilities(capsys):
    assert run(["classify", "--help"]) == 0
    (said,) = re.findall(r"leave them out:\s([\w\s,]+?)\.", capsys.readouterr().out)
    manager = plugin_manager(installed=False)
    silent = [
        entry.name
        for entry in manager.entries("format")
        if not manager.load("format", entry.name).carries_probabilities
    ]
    assert re.findall(r"\b(?!and\b)\w+", said) == sorted(silent)


def test_jobs_do_not_matter(model_file, tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    for i in range(4):
        soundfile.write(folder / f"{i}.wav", sound(LABELS[i % 3], i, 2.0), RATE)
    for name, count in (("one", "1"), ("many", "2")):
        out = tmp_path / f"{name}.csv"
        assert run(["classify", str(folder), "-m", str(model_file), "--windows", "-o", str(out), "--jobs", count]) == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("é.TextGrid", 'File type = "ooTextFile"'),
        ("é.textgrid", 'File type = "ooTextFile"'),
        ("é.txt", "0.000"),
        ("é.selections.txt", "Selection\t"),
    ],
)
def test_the_suffix_tells_the_format(recording, model_file, tmp_path, name, beginning):
    assert run(["classify", str(recording), "-m", str(model_file), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(beginning)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_format_can_go_to_standard_output(recording, model_file, capsys):
    assert run(["classify", str(recording), "-m", str(model_file), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)


NOW = "document.getElementById('player').currentTime"


def test_a_report_loads_and_a_click_on_a_segment_seeks_the_player(recording, model_file, tmp_path):
    report = tmp_path / "page é.html"
    assert run(["classify", str(recording), "-m", str(model_file), "--report", str(report)]) == 0
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", report.read_text(encoding="utf-8"))
    with shown(report) as (page, complaints):
        page.wait_for_function("document.getElementById('player').readyState > 0")
        assert page.locator("#segments button span").all_inner_texts() == ["tone", "noise", "clicks", "tone"]
        page.click("#segments button >> nth=2")
        page.wait_for_function(f"Math.abs({NOW} - 6) < 0.5")
        assert complaints == []


def test_a_report_goes_with_any_format(recording, model_file, tmp_path, capsys):
    out, report = tmp_path / "out.csv", tmp_path / "page.html"
    assert run(["classify", str(recording), "-m", str(model_file), "--report", str(report), "-o", str(out)]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["tone", "noise", "clicks", "tone"]
    assert f"{report}: written" in capsys.readouterr().err


def test_a_report_of_bad_audio_is_one_line_and_no_file(model_file, tmp_path, capsys):
    bad = tmp_path / "bad.wav"
    bad.write_text("no audio")
    assert run(["classify", str(bad), "-m", str(model_file), "--report", str(tmp_path / "page.html")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.wav", "--model", "none.audioclass"], "none.audioclass: no such model file"),
        (["{audio}", "-m", "{model}", "--format", "cvs"], "unknown format 'cvs'; did you mean 'csv'"),
        (
            ["{audio}", "-m", "{model}", "-o", "x.nothing"],
            "the suffix does not tell the format; name it with --format: audacity (.txt), csv",
        ),
        (["{audio}", "-m", "{model}", "-o", "/nowhere/x.csv"], "no such folder /nowhere"),
        (["{audio}", "-m", "{model}", "--resume"], "--resume needs -o"),
        (["{audio}", "-m", "{model}", "--follow"], "--follow reads a stream"),
        (["{folder}", "-m", "{model}"], "no recordings found"),
        (
            ["{audio}", "a.wav", "-m", "{model}", "--report", "x.html"],
            "--report shows one recording that is a file, not 2",
        ),
        (["-", "-m", "{model}", "--report", "x.html"], "--report shows one recording that is a file, not a pipe"),
        (["{audio}", "-m", "{model}", "--report", "x.html", "--resume"], "--report goes without --resume"),
        (["-", "-m", "{model}", "--follow", "-o", "x.csv"], "--follow goes without --output"),
        (["{audio}", "-m", "{model}", "--windows", "--min-duration", "2"], "min_duration=2.0 is for segments"),
        (["{audio}", "-m", "{model}", "--smooth", "hmm:duration=0"], "hmm: duration=0.0 must be above 1"),
        (["{audio}", "-m", "{model}", "--smooth", "hmm:transitions=[1]"], "hmm: 1 transitions, 3 labels have 9"),
        (
            ["-", "-m", "{model}", "--follow", "--smooth", "meadian"],
            "unknown smoother 'meadian'; did you mean 'median'",
        ),
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


def marks_in(ledger):
    """The recordings of the whole lines; none before there is a ledger."""
    text = ledger.read_text(encoding="utf-8") if ledger.exists() else "\n"
    return [json.loads(line)["mark"] for line in text.split("\n")[1:-1]]


def test_a_batch_that_is_killed_twice_goes_on(model_file, tmp_path):
    write_batch(tmp_path / "all", 300, 15)
    out, ledger = tmp_path / "out.csv", tmp_path / ".out.csv.ledger"
    arguments = [str(tmp_path / "all"), "-m", str(model_file), "-o", str(out), "--resume"]
    for n_done in (60, 120):
        killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], stderr=DEVNULL, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert not out.exists()
        done = marks_in(ledger)
        assert len(done) == len(set(done)) == n_done  # nothing was computed twice
    last = subprocess.run([*COMMAND, *arguments], check=False, capture_output=True, text=True)
    assert last.returncode == 1
    assert f"285 of 300 recordings ({len(done)} from before)" in last.stderr
    assert sum(".wav:" in line for line in last.stderr.splitlines()) == 15
    with out.open(encoding="utf-8", newline="") as file:
        assert len({row["file"] for row in csv.DictReader(file)}) == 285
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "out.csv"]


def test_a_ledger_of_other_options_is_refused(recording, model_file, tmp_path, capsys):
    out = tmp_path / "out.csv"
    (tmp_path / ".out.csv.ledger").write_text('{"made_with": "another"}\n')
    assert run(["classify", str(recording), "-m", str(model_file), "-o", str(out), "--resume"]) == 2
    assert "made with another model or other options" in capsys.readouterr().err
