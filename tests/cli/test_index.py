"""`audioclass index` as a user types it."""

import json
import os
import shutil
import sys

import pytest
import soundfile
from browser import shown
from cli.test_screen import Terminal
from evenings import NAMES
from made_archives import MadeRecording, MadeSegment, make_archive
from trained import RATE, sound

import audioclass
from audioclass.cli import run
from audioclass.engine.analysing import SegmentChoice
from audioclass.packages import import_module


@pytest.fixture
def place(evening, tmp_path, monkeypatch, model_file):
    """A working directory with copies of the evening's `recordings` and `archive`, and the model beside them.

    The archive knows the recordings in their first place; here they are found again, and not computed.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDIOCLASS_CACHE", str(tmp_path / "cache"))
    shutil.copytree(evening.recordings, "recordings")
    shutil.copytree(evening.archive, "archive")
    shutil.copy(model_file, "small.audioclass")
    return tmp_path


def add(*arguments):
    return run(["index", "add", "archive", *arguments, "-m", "small.audioclass"])


def test_an_archive_is_made_and_grows(tmp_path, model_file, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        soundfile.write(tmp_path / f"{number}.wav", sound("tone", number), RATE)
    command = ["index", "add", "new/archive", "-m", str(model_file)]
    assert run([*command, "0.wav"]) == 0
    first = capsys.readouterr()
    assert run([*command, "."]) == 0
    second = capsys.readouterr()
    assert first.out == second.out == ""
    assert "new/archive: 1 recordings: 1 computed; 1 s of audio in" in first.err
    assert "new/archive: 2 recordings: 1 computed, 1 unchanged; 1 s of audio in" in second.err
    assert "times faster than real time" in second.err


def test_failures_are_told_once_and_tried_again_when_asked(tmp_path, model_file, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    soundfile.write(tmp_path / "good.wav", sound("tone", 1), RATE)
    content = (tmp_path / "good.wav").read_bytes()
    (tmp_path / "cut.wav").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.wav").write_text("no audio")
    command = ["index", "add", "archive", ".", "-m", str(model_file)]
    assert run(command) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[1] == f"{tmp_path / 'text.wav'}: the file is text, not audio"
    assert told[0].startswith(f"{tmp_path / 'cut.wav'}: ")
    assert told[0].endswith("indexed up to there")
    assert "3 recordings: 2 computed, 2 failed;" in told[2]
    assert run(command) == 0
    assert capsys.readouterr().err.endswith(": 0 computed, 3 unchanged (2 failed before: --retry tries again)\n")
    assert run([*command, "--retry"]) == 1
    assert "1 computed, 1 unchanged, 2 failed;" in capsys.readouterr().err
    assert run(["index", "verify", "archive"]) == 0


def test_strict_takes_nothing_of_what_is_damaged(tmp_path, model_file, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    soundfile.write(tmp_path / "cut.wav", sound("tone", 1), RATE)
    os.truncate(tmp_path / "cut.wav", 8000)
    assert run(["index", "add", "archive", "cut.wav", "-m", str(model_file), "--strict"]) == 1
    assert "0 computed, 1 failed" in capsys.readouterr().err
    assert run(["find", "archive"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_was_done_is_told_to_programs(place, capsys):
    assert add("recordings", "--json") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["n_recordings"] == told["n_copies"] == 5
    assert told["n_computed"] == 0
    assert told["failures"] == {}
    assert err == "archive: 5 recordings: 0 computed, 5 copies\n"


def test_paths_are_the_same_from_wherever_they_are_stated(place, capsys, monkeypatch):
    assert add("recordings") == 0
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    assert run(["index", "add", "../archive", "../recordings", "-m", "../small.audioclass"]) == 0
    assert "5 unchanged" in capsys.readouterr().err.splitlines()[-1]


def test_zones_patterns_and_tables_tell_when(place, capsys):
    shutil.copy("recordings/undated.flac", "recordings/take 3-04-2021 7h05.flac")
    (place / "sites.csv").write_text(
        "file,Site,tape,recorded_at\n"
        "recordings/undated.flac,Pond,007,2021-07-01 20:00\n"
        "recordings/20190403_235955.wav,Hill,,\n",
        encoding="utf-8",
    )
    assert add("recordings", "--timezone", "Europe/Zurich", "--metadata", "sites.csv") == 0
    assert add("recordings/take 3-04-2021 7h05.flac", "--name-pattern", "%d-%m-%Y %Hh%M", "--retime") == 0
    assert capsys.readouterr().err.endswith("1 unchanged, 1 with another start time\n")
    assert add("recordings", "--retime", "--timezone", "Europe/Zurich") == 0
    assert "another start time" not in capsys.readouterr().err
    capsys.readouterr()
    asked = "SELECT DISTINCT parse_filename(path), recorded_at, utc_offset_minutes, clock_source, site, tape "
    assert run(["find", "archive", "--sql", f"{asked} FROM recordings WHERE path LIKE '{place}/%' ORDER BY 1"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[:1] + row[3:] for row in rows] == [
        ["20190403_235955.wav", "name", "Hill", ""],
        ["20190404_065954.wav", "name", "", ""],
        ["20190512_120000.wav", "name", "", ""],
        ["broken.wav", "", "", ""],
        ["take 3-04-2021 7h05.flac", "name", "", ""],
        ["undated.flac", "table", "Pond", "007"],
    ]
    assert rows[0][1:3] == ["2019-04-03 21:59:55+00:00", "120"]
    assert rows[-1][1:3] == ["2021-07-01 18:00:00+00:00", "120"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "archive"], "missing argument 'PATH…'"),
        (["add", "archive", "nowhere.wav"], "nowhere.wav: no such file or folder"),
        (["add", "archive", "cache"], "cache: no recordings found"),
        (["add", "archive", "recordings", "-m", "none.audioclass"], "none.audioclass: no such model file"),
        (["add", "archive", "recordings", "--timezone", "Europe/Zurch"], "did you mean 'Europe/Zurich'"),
        (["add", "archive", "recordings", "--name-pattern", "%d-%m"], "'%d-%m'"),
        (["add", "archive", "recordings", "--metadata", "none.csv"], "none.csv: no such file"),
        (["add", "archive", "recordings", "--metadata", "other.csv"], "other.csv: none of the recordings is in it"),
        (["add", "new", "recordings", "--smooth", "meadian"], "unknown smoother 'meadian'; did you mean 'median'"),
        (["add", "archive", "recordings", "--min-duration", "3"], "its segments were made with --smooth hmm --min-dur"),
        (["add", "recordings", "recordings"], "recordings: holds other files; an archive needs a folder of its own"),
        (["add", "small.audioclass", "recordings"], "small.audioclass: is a file, an archive is a folder"),
        (["add", "arch[1]", "recordings"], "the table format takes no '[' in the path of an archive"),
        (["segment", "archive", "--smooth", "meadian"], "unknown smoother 'meadian'; did you mean 'median'"),
        (["segment", "archive", "--threshold", "2"], "invalid value for '--threshold'"),
        (["segment", "archive", "--model", "birds"], "holds no results of 'birds'; known: small ("),
        (["segment", "nowhere"], "nowhere: no archive; `audioclass index add` makes one"),
        (["status", "recordings"], "recordings: no archive; `audioclass index add` makes one"),
        (["verify", "nowhere"], "nowhere: no archive"),
        (["compact", "nowhere"], "nowhere: no archive"),
        (["compact", "archive", "--keep-days", "-1"], "invalid value for '--keep-days'"),
        (["prune", "nowhere"], "nowhere: no archive"),
        (["report", "archive"], "missing option '--output'"),
        (["report", "archive", "-o", "no/page.html"], "no/page.html: no such folder"),
        (["report", "archive", "-o", "archive/page.html"], "archive/page.html: lies in the archive"),
        (["report", "archive", "-o", "page.html", "-m", "birds"], "holds no results of 'birds'"),
    ],
)
def test_wrong_use_is_one_line(place, capsys, arguments, message):
    (place / "other.csv").write_text("file,site\nx.wav,Pond\n")
    (place / "cache").mkdir(exist_ok=True)
    is_model_stated = arguments[0] != "add" or "-m" in arguments
    assert run(["index", *arguments, *([] if is_model_stated else ["-m", "small.audioclass"])]) in (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_segments_are_made_anew_without_recordings(place, capsys):
    shutil.rmtree("recordings")
    assert run(["index", "segment", "archive", "--min-duration", "100", "--jobs", "1"]) == 0
    assert "archive: 4 segments of small in" in (err := capsys.readouterr().err)
    assert "with --smooth hmm --min-duration 100 --threshold 0 --unknown 0" in err
    assert run(["index", "segment", "archive", "--threshold", "1"]) == 0
    assert "--min-duration 100 --threshold 1" in capsys.readouterr().err
    assert run(["find", "archive", "--label", "unknown", "-f", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["segments"]) == 4


def test_later_recordings_are_segmented_as_those_before(place, capsys):
    soundfile.write("recordings/more.wav", sound("tone", 4, 2.0), RATE)
    assert run(["index", "segment", "archive", "--min-duration", "100"]) == 0
    assert add("recordings/more.wav", "--smooth", "hmm") == 0
    assert add("recordings/more.wav", "--min-duration", "100") == 0
    assert add("recordings/more.wav", "--min-duration", "99") == 2
    assert run(["index", "verify", "archive"]) == 0


def test_status_says_what_an_archive_holds(place, capsys):
    assert run(["index", "status", "archive"]) == 0
    out, err = capsys.readouterr()
    rows = dict(line.split("\t") for line in out.splitlines())
    assert err == ""
    assert rows["archive"] == str(place / "archive")
    assert rows["recordings"] == "5, 0.7 min"
    assert rows["failed or damaged"] == "1"
    assert rows["first and last"] == "2019-04-03 23:59:55, 2019-05-12 12:00:00"
    assert rows["files of the tables"] == "5, 0.1 MB"
    assert rows["segments made with"] == SegmentChoice().to_options()
    [model] = [name for name in rows if name.startswith("model ")]
    assert rows[model].endswith("windows, 14 segments")


def test_status_for_programs(place, capsys):
    assert run(["index", "status", "archive", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["first"] == "2019-04-03T23:59:55"
    assert told["models"][0]["options"]["smooth"] == "hmm"
    assert set(told["versions"]) == {"recordings", "models", "analyses", "windows", "segments"}


def test_status_on_a_terminal_is_a_table(place, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert run(["index", "status", "archive"]) == 0
    assert "\t" not in sys.stdout.getvalue()
    assert "first and last" in sys.stdout.getvalue()


def test_what_is_gone_is_marked_found_again_and_forgotten(place, capsys):
    for name in NAMES[1:]:
        (place / "recordings" / name).unlink()
    assert add("recordings") == 0
    undated, back = place / "recordings" / "undated.flac", place / "back.flac"
    undated.rename(back)
    assert run(["index", "prune", "archive"]) == 0
    assert capsys.readouterr().err.endswith("archive: 1 recordings are gone\n")
    assert run(["find", "archive", "--path", str(undated)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    back.rename(undated)
    assert add("recordings") == 0
    capsys.readouterr()
    assert run(["find", "archive", "--path", str(undated)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_what_is_gone_is_forgotten_when_asked(tmp_path, model_file, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        soundfile.write(tmp_path / f"{number}.wav", sound("tone", number), RATE)
    assert run(["index", "add", "archive", ".", "-m", str(model_file)]) == 0
    (tmp_path / "0.wav").unlink()
    capsys.readouterr()
    assert run(["index", "prune", "archive", "--delete"]) == 0
    assert capsys.readouterr().err == "archive: 1 recordings are gone, 1 forgotten\n"
    held = audioclass.open_archive("archive").status()
    assert (held.n_recordings, held.n_removed, held.models[0].n_recordings) == (1, 0, 1)
    assert run(["index", "verify", "archive"]) == 0


def test_a_sound_archive_is_verified(place, capsys):
    assert run(["index", "verify", "archive", "--contents"]) == 0
    assert capsys.readouterr() == ("", "archive: 0 problems, 0 notes\n")


def test_a_recording_that_has_changed_is_told(tmp_path, model_file, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    soundfile.write(tmp_path / "a.wav", sound("tone", 1), RATE)
    assert run(["index", "add", "archive", "a.wav", "-m", str(model_file)]) == 0
    soundfile.write(tmp_path / "a.wav", sound("noise", 1), RATE)
    capsys.readouterr()
    assert run(["index", "verify", "archive", "--contents"]) == 1
    out, err = capsys.readouterr()
    assert out == f"{tmp_path / 'a.wav'}: has changed since it was added\n"
    assert err == "archive: 1 problems, 0 notes\n"
    assert run(["index", "verify", "archive", "--contents", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"problems": [out.strip()], "notes": []}


def test_tables_that_do_not_agree_are_told(tmp_path, capsys):
    overlapping = [MadeSegment("a", 0, 2, "x", 0.5), MadeSegment("a", 1, 3, "x", 0.5)]
    archive = make_archive(tmp_path / "archive", [MadeRecording("/a.wav", "a")], overlapping, [["x"], ["y"]])
    assert run(["index", "verify", str(archive)]) == 1
    out, _ = capsys.readouterr()
    assert "1 recordings have segments that overlap, such as a\n" in out


def test_small_files_are_joined_and_old_ones_removed(place, capsys):
    soundfile.write("recordings/more.wav", sound("tone", 4, 2.0), RATE)
    assert add("recordings/more.wav") == 0
    capsys.readouterr()
    assert run(["index", "compact", "archive"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["table", "joined", "removed"]
    assert {row[0]: row[1] for row in rows[1:]}["windows"] == "2"
    assert run(["index", "compact", "archive", "--keep-days", "0"]) == 0
    assert dict(line.split("\t")[::2] for line in capsys.readouterr().out.splitlines())["windows"] == "2"
    assert audioclass.open_archive("archive").status().n_files == 5
    assert len(list((place / "archive").rglob("part-*.parquet"))) == 5
    assert run(["index", "verify", "archive"]) == 0


def test_a_report_opens_and_plays_what_is_there(evening, tmp_path, capsys):
    assert run(["index", "report", str(evening.archive), "-o", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr() == ("", f"{tmp_path / 'page.html'}: written\n")
    with shown(tmp_path / "page.html", viewport={"width": 390, "height": 800}) as (page, complaints):
        assert "Most certain" in page.inner_text("body")
        assert complaints == []


@pytest.mark.parametrize("command", ["add", "segment", "status", "verify", "compact", "prune", "report"])
def test_help_has_examples(capsys, command):
    assert run(["index", command, "--help"]) == 0
    assert f"Examples:\n    audioclass index {command} archive/" in capsys.readouterr().out


@pytest.mark.parametrize("package", ["deltalake", "duckdb", "pyarrow"])
@pytest.mark.parametrize("command", [["add", "archive", "recordings", "-m", "small.audioclass"], ["status", "archive"]])
def test_a_missing_package_is_one_line_with_the_remedy(place, capsys, monkeypatch, package, command):
    hide(package, monkeypatch)
    assert run(["index", *command]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.endswith("is not installed: pip install 'audioclass[index]'\n")
    assert err.startswith(package)


def hide(package, monkeypatch):
    """Let a package and what is in it be missing."""

    def imported(module):
        if module.partition(".")[0] == package:
            raise ImportError(module)
        return import_module(module)

    monkeypatch.setattr("audioclass.packages.import_module", imported)


def test_ctrl_c_says_that_what_is_done_is_kept(place, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("audioclass.engine.indexing.ArchiveWriter._take", stop)
    soundfile.write("recordings/more.wav", sound("tone", 4, 2.0), RATE)
    assert add("recordings/more.wav") == 130
    assert "what is done is kept" in capsys.readouterr().err
