"""`audioclass classify --follow` as programs and people see it."""

import os
import pty
import subprocess
import sys
import types

import pytest
import soundfile
from trained import RATE, mixture

from audioclass.cli import run

COLUMNS = ["file", "start", "end", "label", "probability", "runner_up", "runner_up_probability"]


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    path = tmp_path_factory.mktemp("follow") / "live.wav"
    soundfile.write(path, mixture(("tone", "noise", "clicks", "noise"), 5.0), RATE)
    return path


@pytest.fixture
def follow(live, model_file, monkeypatch, capsys):
    """The rows and messages of the live stream with some options."""

    def lines(*options):
        with live.open("rb") as stream:
            monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=stream))
            assert run(["classify", "--follow", "-", "-m", str(model_file), *options]) == 0
        out, err = capsys.readouterr()
        return [line.split("\t") for line in out.splitlines()], err

    return lines


def test_provisional_lines_are_marked_and_the_final_ones_are_as_without(follow):
    [columns, *rows], err = follow()
    assert columns == COLUMNS
    [marked, *all_rows], told = follow("--provisional")
    assert marked == [*COLUMNS, "state"]
    assert [row[:-1] for row in all_rows if row[-1] == "final"] == rows
    assert {row[-1] for row in all_rows} == {"final", "provisional"}
    assert [row[-1] for row in all_rows].index("final") > 3
    assert "provisional lines come at most" in told
    assert "provisional" not in err


def test_every_stretch_that_is_final_was_told_before_by_its_label(follow):
    [_, *rows], _ = follow("--provisional")
    first = {}
    for row in rows:
        first.setdefault((row[1], row[3]), row[-1])
    finals = [(row[1], row[3]) for row in rows if row[-1] == "final"]
    assert [first[one] for one in finals] == ["provisional"] * len(finals)


def test_provisional_lines_are_of_live_streams_only(live, model_file, capsys):
    assert run(["classify", str(live), "-m", str(model_file), "--provisional"]) == 2
    assert capsys.readouterr().err == "--provisional goes with --follow: other lines are final\n"


@pytest.mark.parametrize(("terminal", "is_drawn"), [("xterm", True), ("dumb", False)])
def test_a_terminal_draws_one_line_anew_and_ends_with_the_final_ones(live, model_file, terminal, is_drawn):
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "audioclass", "classify", "--follow", "-", "-m", str(model_file)]
    environment = {**os.environ, "TERM": terminal, "COLUMNS": "40"}
    with live.open("rb") as stream:
        process = subprocess.Popen(command, stdin=stream, stdout=writer, stderr=subprocess.PIPE, env=environment)
    os.close(writer)
    text = b""
    while part := _read(reader):
        text += part
    process.communicate()
    os.close(reader)
    assert process.returncode == 0
    drawn = [
        line for line in text.decode().replace("\r\n", "\n").split("\r") if "(provisional)" in line or "\x1b[K" in line
    ]
    assert bool(drawn) == is_drawn
    assert all(len(line.partition("\x1b[K")[0]) < 40 for line in drawn)
    last = text.decode().rpartition("\x1b[K")[2] if is_drawn else text.decode()
    assert "provisional" not in last
    finals = [line for line in text.decode().splitlines() if line.rpartition("\x1b[K")[2].startswith("-\t")]
    assert len(finals) == 4


def _read(reader):
    try:
        return os.read(reader, 65536)
    except OSError:  # how a terminal ends on Linux
        return b""
