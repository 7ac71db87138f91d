"""A command that is stopped ends in order; streams that are closed or full, and pipes for files, are one line."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from audioclass.cli import run
from audioclass.cli.actions import classify_recordings
from audioclass.cli.stopping import Stopped

COMMAND = [sys.executable, "-m", "audioclass"]


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (Stopped(signal.SIGTERM), 143)])
@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["-o", "out.csv"], "; add --resume to go on"),
        (["-o", "out.csv", "--resume"], "; start it again to go on"),
        ([], ""),
    ],
)
def test_it_says_how_far_it_got(small, model_file, tmp_path, monkeypatch, capsys, error, code, arguments, hint):
    monkeypatch.chdir(tmp_path)
    classify_many = classify_recordings.classify_many

    def stopped_after_two(*given, **options):
        for number, outcome in enumerate(classify_many(*given, **options)):
            if number == 2:
                raise error
            yield outcome

    monkeypatch.setattr(classify_recordings, "classify_many", stopped_after_two)
    assert run(["classify", str(small / "corpus"), "-m", str(model_file), *arguments]) == code
    assert capsys.readouterr().err == f"stopped: recordings, 2 of 18 done{hint}\n"
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("command", ["extract", "train", "evaluate"])
def test_work_on_a_corpus_goes_on_when_it_is_started_again(small, tmp_path, monkeypatch, capsys, command):
    from audioclass.extraction import batch

    extract_one, count = batch.extract_one, iter(range(100))

    def stopped_after_three(*given, **named):
        if next(count) == 3:
            raise KeyboardInterrupt
        return extract_one(*given, **named)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(batch, "extract_one", stopped_after_three)
    assert run([command, str(small / "corpus"), "--recipe", str(small / "small.toml"), "--cache", "cache"]) == 130
    stage = "recordings" if command == "extract" else "extraction"
    message = f"stopped: {stage}, 3 of 18 done; start it again to go on: what is done is kept\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_command_in_order(model_file, small, number, code):
    command = [*COMMAND, "classify", "--follow", "-", "-m", str(model_file)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.PIPE) as process:
        process.stdin.write((small / "corpus" / "tone" / "tone-0.wav").read_bytes())
        process.stdin.flush()
        first = process.stderr.readline()
        process.send_signal(number)
        rest = process.stderr.read()
    assert first.startswith(b"segments are final")
    assert rest == b"stopped\n"
    assert process.returncode == code


def entry_of_script():
    """What the console script runs, as a script."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["audioclass"].partition(":")
    return [sys.executable, "-c", f"from {module} import {function}; {function}()"]


@pytest.mark.parametrize("command", [COMMAND, entry_of_script()], ids=["module", "script"])
def test_it_is_quiet_while_it_is_still_being_imported(command, tmp_path):
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n"
    (tmp_path / "typer.py").write_text(code, encoding="utf-8")
    paths = [str(tmp_path), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([*command, "--version"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def test_who_asks_twice_is_told_too():
    script = (
        "import os, signal\n"
        "from audioclass.cli.stopping import end_in_order\n"
        "end_in_order()\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "finally:\n    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "stopped at once\n")


LISTS = [["--version"], ["--help"], ["classify", "--help"], ["recipes"], ["model", "show", "MODEL"]]
LONG = [*LISTS[-1:], ["classify", "RECORDING", "-m", "MODEL"], ["extract", "RECORDING", "--no-cache", "-o", "-"]]


def shell(arguments, ending, model_file, small):
    names = {"MODEL": str(model_file), "RECORDING": str(small / "corpus" / "tone" / "tone-0.wav")}
    words = [*COMMAND, *(names.get(word, word) for word in arguments)]
    script = f'"$@" {ending}'
    return subprocess.run(["bash", "-o", "pipefail", "-c", script, "bash", *words], capture_output=True, text=True)


@pytest.mark.parametrize("arguments", LONG, ids=lambda words: words[0])
def test_an_output_that_is_full_or_closed_is_one_line(arguments, model_file, small):
    for ending, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        if ending != ">/dev/full" or Path("/dev/full").exists():
            done = shell(arguments, ending, model_file, small)
            assert done.returncode == 1
            assert done.stderr.splitlines()[-1] == f"standard output: cannot be written: {reason}"
            assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", LONG, ids=lambda words: words[0])
def test_a_reader_that_has_seen_enough_is_no_error(arguments, model_file, small):
    done = shell(arguments, "| true", model_file, small)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_messages_that_nobody_hears_cost_no_result(model_file, small):
    heard = shell(LONG[1], "", model_file, small)
    for ending in ("2>&-", "2>/dev/full"):
        done = shell(LONG[1], ending, model_file, small)
        assert (done.returncode, done.stdout) == (0, heard.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["classify", "RECORDING", "-m", "PIPE"],
        ["model", "show", "PIPE"],
        ["extract", "RECORDING", "--recipe", "PIPE.toml"],
        ["recipes", "PIPE.toml"],
        ["train", "CORPUS", "--config", "PIPE"],
        ["train", "CORPUS", "--taxonomy", "PIPE"],
        ["train", "CORPUS", "--tree", "PIPE.toml"],
        ["train", "PIPE.csv"],
        ["corpus", "stats", "PIPE.csv"],
    ],
    ids=" ".join,
)
def test_a_pipe_for_a_file_is_refused(arguments, small, tmp_path, capsys):
    for suffix in ("", ".toml", ".csv"):
        os.mkfifo(tmp_path / f"pipe{suffix}")
    names = {"RECORDING": small / "corpus" / "tone" / "tone-0.wav", "CORPUS": small / "corpus"}
    words = [str(names.get(word, word.replace("PIPE", str(tmp_path / "pipe")))) for word in arguments]
    assert run(words) in (1, 2)
    [message] = capsys.readouterr().err.splitlines()
    assert "pipe" in message
    assert "not a regular file" in message or "no corpus that a reader knows" in message
