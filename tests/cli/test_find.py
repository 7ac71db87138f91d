"""`audioclass find` as a user types it."""

import csv
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from subprocess import DEVNULL

import numpy as np
import pytest
import soundfile
from browser import shown
from cli.test_classify import read_terminal
from cli.test_index import hide
from trained import RATE, mixture

from audioclass.cli import run
from audioclass.plugins.manager import plugin_manager

HEAD = ["file", "start", "end", "label", "probability", "runner_up", "runner_up_probability"]
FORMATS = [entry.name for entry in plugin_manager(installed=False).entries("format")]


@pytest.fixture
def find(evening, tmp_path, monkeypatch, capsys):
    """What a search of the evening's archive gives: the rows after the head, as fields."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDIOCLASS_CACHE", str(tmp_path / "cache"))

    def ask(*options):
        assert run(["find", str(evening.archive), *options]) == 0
        head, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
        assert head[:7] == HEAD
        return rows

    return ask


def names(rows):
    return [Path(row[0]).name for row in rows]


def test_in_a_pipe_it_prints_lines_with_the_clock_time(evening, capsys):
    assert run(["find", str(evening.archive), "--label", "clicks"]) == 0
    out, err = capsys.readouterr()
    head, *rows = (line.split("\t") for line in out.splitlines())
    assert head == [*HEAD, "at"]
    assert rows[0][0] == str(evening.recordings / "20190403_235955.wav")
    assert [row[7] for row in rows] == ["2019-04-04 00:00:01", "2019-04-04 07:00:00", "2019-05-12 12:00:06"]
    assert err == "3 segments\n"


def test_on_a_terminal_it_is_a_table_with_short_paths(evening, tmp_path):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    command = [sys.executable, "-m", "audioclass", "find", "archive", "-l", "clicks"]
    with subprocess.Popen(
        command, stdin=DEVNULL, stdout=theirs, stderr=DEVNULL, env=environment, cwd=evening.archive.parent
    ) as process:
        os.close(theirs)
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", read_terminal(ours))
    assert process.returncode == 0
    head, *rows = text.splitlines()
    assert head.split() == ["file", "start", "end", "label", "probability", "runner_up", "at"]
    assert [row.split()[0] for row in rows] == [
        f"recordings/{name}" for name in ("20190403_235955.wav", "20190404_065954.wav", "20190512_120000.wav")
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-l noise -l clicks", 7),
        ("--min-duration 2.5 --max-duration 3.5", 14),
        ("--min-probability 0", 14),
        ("--max-probability 0", 0),
        ("--from 2019-04-04", 10),
        ("--to 2019-04-03", 2),
        ("--from 2019-04 --to 2019-04", 8),
        ("--from 2019 --to 2019", 12),
        ("--from 2019-04-04T06:59:59 --to 2019-05-12T12:00:05", 4),
        ("--between 23:00-01:00", 4),
        ("--between 06:00-07:01", 4),
        ("--path *.flac", 2),
        ("--path recordings/2019*", 12),
        ("--path *.flac --path *0512*", 6),
        ("--near clicks:0s", 6),
        ("-l tone --near clicks:2.6", 3),
        ("-l tone --near clicks:3.2s", 6),
        ("-n 3", 3),
    ],
)
def test_segments_fit_all_that_is_stated(find, options, expected):
    assert len(find(*options.split())) == expected


@pytest.mark.parametrize(
    ("order", "column", "key", "is_reversed"),
    [
        ("path", 0, str, False),
        ("-path", 0, str, True),
        ("time", 7, lambda text: text or "9999", False),
        ("-time", 7, str, True),
        ("probability", 4, float, True),
        ("-probability", 4, float, False),
    ],
)
def test_orders(find, order, column, key, is_reversed):
    values = [key(row[column]) for row in find(f"--sort={order}")]
    assert values == sorted(values, reverse=is_reversed)


def test_the_longest_is_first(find):
    durations = [float(row[2]) - float(row[1]) for row in find("--sort", "duration")]
    assert durations == pytest.approx(sorted(durations, reverse=True), abs=2e-3)


def test_like_an_example_the_same_sound_is_first(find, evening):
    recording = evening.recordings / "20190404_065954.wav"
    rows = find("--like", f"{recording}@6-8.5", "-n", "3")
    assert [row[3] for row in rows] == ["clicks"] * 3
    assert names(rows)[0] == recording.name
    similarities = [float(row[8]) for row in rows]
    assert similarities[0] == pytest.approx(1, abs=0.02)
    assert similarities == sorted(similarities, reverse=True)


def test_like_goes_with_other_conditions(find, tmp_path):
    soundfile.write(tmp_path / "example.wav", mixture(("noise",)), RATE)
    rows = find("--like", "example.wav", "--path", "*0512*", "-l", "tone", "-n", "1")
    assert names(rows) == ["20190512_120000.wav"]
    assert rows[0][3] == "tone"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("options", [["-l", "clicks"], ["--max-probability", "0"]], ids=["some", "none"])
def test_every_format_is_written(evening, tmp_path, capsys, name, options):
    output = tmp_path / "found"
    assert run(["find", str(evening.archive), *options, "-f", name, "-o", str(output)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{output}: {3 if '-l' in options else 0} segments as {name}" in err
    assert output.exists()


def test_the_suffix_tells_the_format(evening, tmp_path):
    assert run(["find", str(evening.archive), "-l", "clicks", "-o", str(tmp_path / "found.csv")]) == 0
    with (tmp_path / "found.csv").open(encoding="utf-8", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["clicks"] * 3


def test_a_format_can_go_to_standard_output(evening, capsys):
    assert run(["find", str(evening.archive), "-l", "clicks", "-f", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["segments"]) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "clikcs"], "unknown label 'clikcs'; did you mean 'clicks'? known: clicks, noise, silence,"),
        (["--from", "April"], "'April' must be a date such as 2019-04-03"),
        (["--from", "2019-13-01"], "'2019-13-01' must be a date"),
        (["--to", "2019-04-03T19:17+02:00"], "times are those of the clock where recordings were made"),
        (["--between", "4-7"], "'4' must be a time of the day, such as 04:00"),
        (["--between", "04:00"], "'04:00' must be two times of the day, such as 04:00-07:00"),
        (["--near", "clicks"], "'clicks' must be a label and seconds, such as music:5s"),
        (["--near", "clack:5s"], "unknown label 'clack'; did you mean 'clicks'"),
        (["--sort", "times"], "unknown order 'times'; did you mean 'time'"),
        (["--sort", "similarity"], "--sort similarity needs --like"),
        (["--limit", "0"], "invalid value for '-n' / '--limit'"),
        (["--like", "nothing.wav"], "nothing.wav: no such file"),
        (["--like", "example.wav@3-2"], "example.wav@3-2: the stretch ends before it starts"),
        (["--model", "birds"], "holds no results of 'birds'; known: small ("),
        (["--format", "cvs"], "unknown format 'cvs'; did you mean 'csv'"),
        (["-o", "found.nothing"], "found.nothing: the suffix does not tell the format"),
        (["-o", "no/found.csv"], "no/found.csv: no such folder"),
        (["--report", "."], ".: is a folder, a file is needed"),
        (["-o", "page.csv", "--report", "page.csv"], "page.csv: is written twice"),
        (["--clips", "full"], "full: must be a new or an empty folder"),
        (["--clips", "example.wav"], "example.wav: must be a new or an empty folder"),
        (["-o", "{archive}/found.csv"], "found.csv: lies in the archive, the output must be elsewhere"),
        (["--clips", "{archive}/clips"], "clips: lies in the archive, the output must be elsewhere"),
        (["-f", "csv", "-o", "{recordings}/undated.flac"], "is an input"),
        (["--report", "{recordings}/undated.flac"], "is an input"),
        (["--like", "example.wav", "-f", "csv", "-o", "example.wav"], "example.wav: is an input"),
        (["--sql", "SELECT 1", "--label", "tone"], "--sql goes without --label: it says all there is to ask"),
        (["--sql", "SELECT 1", "-o", "x.csv"], "--sql goes without --output"),
    ],
)
def test_wrong_use_is_one_line(evening, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    soundfile.write("example.wav", mixture(("noise",)), RATE)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    before = {path: path.read_bytes() for path in evening.recordings.iterdir()}
    places = {"archive": evening.archive, "recordings": evening.recordings}
    options = [option.format(**places) for option in options]
    assert run(["find", str(evening.archive), *options]) in (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in evening.recordings.iterdir()} == before


@pytest.mark.parametrize("name", ["nowhere", "recordings"])
def test_what_is_no_archive_is_told_with_what_makes_one(evening, capsys, name):
    folder = evening.archive.parent / name
    assert run(["find", str(folder)]) == 2
    assert capsys.readouterr() == ("", f"{folder}: no archive; `audioclass index add` makes one\n")


def test_clips_are_cut_and_listed(evening, tmp_path, capsys):
    clips = tmp_path / "new" / "clips"
    assert run(["find", str(evening.archive), "-l", "clicks", "--clips", str(clips)]) == 0
    assert capsys.readouterr() == ("", f"{clips}: 3 clips\n3 segments\n")
    with (clips / "clips.csv").open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    whole, _ = soundfile.read(first["recording"])
    samples, _ = soundfile.read(clips / first["file"])
    start, end = (round(float(first[name]) * RATE) for name in ("recording_start", "recording_end"))
    np.testing.assert_array_equal(samples, whole[start:end])


def test_clips_of_recordings_that_are_gone_are_told(evening, tmp_path, capsys, model_file):
    shutil.copy(evening.recordings / "undated.flac", tmp_path / "a.flac")
    archive = str(tmp_path / "archive")
    assert run(["index", "add", archive, str(tmp_path / "a.flac"), "-m", str(model_file)]) == 0
    (tmp_path / "a.flac").unlink()
    capsys.readouterr()
    assert run(["find", archive, "--clips", str(tmp_path / "clips")]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{tmp_path / 'clips'}: 0 clips",
        *[f"{tmp_path / 'a.flac'}: no such file"] * 2,
        "2 segments",
    ]


def test_a_page_says_what_was_asked_and_plays_it(evening, tmp_path, capsys):
    page = tmp_path / "page é.html"
    options = ["-l", "clicks", "--between", "06:00-13:00", "--report", str(page)]
    assert run(["find", str(evening.archive), *options]) == 0
    assert capsys.readouterr() == ("", f"{page}: written\n2 segments\n")
    requests = []
    with shown(page, viewport={"width": 390, "height": 800}) as (opened, complaints):
        opened.on("request", lambda request: requests.append(request.url))
        assert opened.inner_text("h1") == "Segments: label clicks; between 06:00-13:00"
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390
        opened.click("table button >> nth=0")
        opened.wait_for_function("document.querySelector('audio').readyState > 0")
        assert complaints == []
    assert {url.partition(":")[0] for url in requests} == {"file"}
    assert all("recordings/20190404_065954.wav" in url for url in requests)


def test_sql_reads_tables_and_the_view(evening, capsys):
    asked = "SELECT label, count(*) AS n, round(sum(duration_s), 1) AS s FROM occurrences GROUP BY label ORDER BY label"
    assert run(["find", str(evening.archive), "--sql", asked]) == 0
    head, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert head == ["label", "n", "s"]
    assert [row[:2] for row in rows] == [["clicks", "3"], ["noise", "4"], ["tone", "7"]]
    assert sum(float(row[2]) for row in rows) == pytest.approx(42, abs=0.2)


def test_sql_gives_times_as_they_are(evening, capsys):
    asked = "SELECT min(recorded_at), min(local_time) FROM occurrences"
    assert run(["find", str(evening.archive), "--sql", asked]) == 0
    values = capsys.readouterr().out.splitlines()[1].split("\t")
    assert datetime.fromisoformat(values[0]).utcoffset().total_seconds() == 0
    assert datetime.fromisoformat(values[1]) == datetime(2019, 4, 3, 23, 59, 55)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "--sql takes one SELECT, such as"),
        ("SELECT 1; SELECT 2", "--sql takes one SELECT, such as"),
        ("COPY recordings TO '{folder}/stolen.csv'", "--sql takes one SELECT, such as"),
        ("COPY recordings TO '{archive}/stolen.csv'", "--sql takes one SELECT, such as"),
        ("EXPLAIN ANALYZE COPY recordings TO '{archive}/stolen.csv'", "--sql takes one SELECT, such as"),
        ("EXPORT DATABASE '{archive}/stolen'", "--sql takes one SELECT, such as"),
        ("ATTACH '{archive}/stolen.db'", "--sql takes one SELECT, such as"),
        ("INSTALL httpfs", "--sql takes one SELECT, such as"),
        ("LOAD httpfs", "--sql takes one SELECT, such as"),
        ("SET enable_external_access = true", "--sql takes one SELECT, such as"),
        ("DROP VIEW occurrences", "--sql takes one SELECT, such as"),
        ("SELECT * FROM read_csv('/etc/passwd')", "--sql: Permission Error: Cannot access file"),
        ("SELECT * FROM read_text('{folder}/secret.txt')", "--sql: Permission Error: Cannot access file"),
        ("SELECT * FROM glob('/etc/*')", "--sql: Permission Error: Cannot access"),
        ("SELECT * FROM '{folder}/secret.csv'", "--sql: "),
        ("SELECT * FROM read_text('{archive}/../secret.txt')", "--sql: Permission Error"),
        ("SELECT nothing FROM segments", '--sql: Binder Error: Referenced column "nothing" not found'),
        ("SELEC 1", "--sql: Parser Error: syntax error at or near"),
        ("SELECT 1 / 'a'", "--sql: Conversion Error"),
    ],
)
def test_sql_reads_the_archive_and_nothing_else(evening, tmp_path, capsys, sql, message):
    for name in ("secret.txt", "secret.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    before = sorted([*tmp_path.rglob("*"), *evening.archive.rglob("*")])
    sql = sql.format(folder=tmp_path, archive=evening.archive)
    assert run(["find", str(evening.archive), "--sql", sql]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(message)
    assert sorted([*tmp_path.rglob("*"), *evening.archive.rglob("*")]) == before


def test_names_of_python_are_no_tables(evening, capsys):
    assert run(["find", str(evening.archive), "--sql", "SELECT * FROM table"]) == 2
    assert run(["find", str(evening.archive), "--sql", "SELECT * FROM statements"]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_help_has_examples(capsys):
    assert run(["find", "--help"]) == 0
    assert "Examples:\n    audioclass find archive/ --label speech" in capsys.readouterr().out


@pytest.mark.parametrize("package", ["deltalake", "duckdb", "pyarrow", "usearch"])
def test_a_missing_package_is_one_line_with_the_remedy(evening, tmp_path, capsys, monkeypatch, package):
    hide(package, monkeypatch)
    example = str(evening.recordings / "undated.flac")
    assert run(["find", str(evening.archive), "--like", example, "--cache", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(package)
    assert err.endswith("is not installed: pip install 'audioclass[index]'\n")


def test_an_example_is_found_after_files_were_joined(evening, tmp_path, model_file, capsys):
    archive = str(tmp_path / "archive")
    for name in ("undated.flac", "20190512_120000.wav"):
        assert run(["index", "add", archive, str(evening.recordings / name), "-m", str(model_file)]) == 0
    example = f"{evening.recordings / 'undated.flac'}@0-2"
    assert run(["find", archive, "--like", example, "-n", "2"]) == 0
    before = capsys.readouterr().out
    assert run(["index", "compact", archive, "--keep-days", "0"]) == 0
    capsys.readouterr()
    assert run(["find", archive, "--like", example, "-n", "2"]) == 0
    assert capsys.readouterr().out == before
