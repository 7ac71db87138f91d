"""A cache or a disk that takes nothing: results are the same, what is not kept is said once, nothing is half done."""

import contextlib
import errno
import resource
import subprocess
import sys

import numpy as np
import pytest
import soundfile
from trained import LABELS, QUICK, write_corpus

from audioclass.cli import run
from audioclass.engine.archives import Archive
from audioclass.engine.models import load_model
from audioclass.engine.runs import make_run
from audioclass.engine.training import train
from audioclass.errors import CorpusError
from audioclass.storage import Store

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def options(small):
    return ["--recipe", str(small / "small.toml")]


@pytest.fixture
def filling(monkeypatch):
    """Stores that take a few entries and then no more, as a disk that fills up; a call says how many."""

    def fill_after(n_entries):
        writing, left = Store.writing, [n_entries]

        @contextlib.contextmanager
        def limited(self, digest):
            with writing(self, digest) as stream:
                yield stream
                left[0] -= 1
                if left[0] < 0:
                    raise FULL

        monkeypatch.setattr(Store, "writing", limited)

    return fill_after


def unusable(tmp_path, kind):
    """A path that cannot be a cache, whoever asks."""
    (tmp_path / "file").write_text("no folder")
    return tmp_path / "file" if kind == "file" else tmp_path / "file" / "below" / "cache"


@pytest.mark.parametrize("n_entries", [0, 5])
def test_a_full_cache_costs_no_recording(small, options, tmp_path, filling, n_entries):
    arguments = ["extract", str(small / "corpus"), *options]
    assert run([*arguments, "--cache", str(small / "cache"), "-o", str(tmp_path / "whole.csv")]) == 0
    filling(n_entries)
    with pytest.warns(UserWarning, match=r"features: cannot be written \(No space left on device\)") as told:
        assert run([*arguments, "--cache", str(tmp_path / "cache"), "-o", str(tmp_path / "full.csv")]) == 0
    assert len(told) == 1
    assert (tmp_path / "full.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_full_cache_costs_a_training_no_label(small, options, tmp_path, filling, model_file):
    filling(2)
    output = tmp_path / "m.audioclass"
    places = ["--cache", str(tmp_path / "cache"), "-o", str(output)]
    with pytest.warns(UserWarning, match="what is computed is not kept") as told:
        assert run(["train", str(small / "corpus"), *options, *QUICK, *places]) == 0
    assert len(told) == 1
    model = load_model(output)
    assert model.labels == LABELS
    assert np.array_equal(model.golden.P, load_model(model_file).golden.P)


@pytest.mark.parametrize("kind", ["file", "below a file"])
@pytest.mark.parametrize("command", ["extract", "train", "evaluate"])
def test_a_cache_that_cannot_be_made_is_said_once(small, options, tmp_path, monkeypatch, capsys, kind, command):
    monkeypatch.chdir(tmp_path)
    fixed = QUICK if command != "extract" else []
    arguments = [command, str(small / "corpus"), *options, *fixed, "--cache", str(unusable(tmp_path, kind))]
    with pytest.warns(UserWarning, match="what is computed is not kept") as told:
        assert run(arguments) == 0
    assert len(told) == 1
    assert "traceback" not in capsys.readouterr().err.lower()


def test_a_home_that_cannot_be_written_is_no_harm(small, options, tmp_path, monkeypatch):
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(unusable(tmp_path, "below a file")))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="what is computed is not kept"):
        assert run(["extract", str(small / "corpus"), *options]) == 0


def limited(arguments, n_bytes):
    """A command in a process whose files may grow to so many bytes."""
    return subprocess.run(
        [sys.executable, "-m", "audioclass", *map(str, arguments)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes)),
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("command", ["classify", "extract", "train"])
def test_an_output_without_room_is_one_line_and_leaves_nothing(small, options, tmp_path, model_file, command):
    arguments = {
        "classify": ["-m", model_file, "-o", tmp_path / "out.csv"],
        "extract": [*options, "--no-cache", "-o", tmp_path / "out.csv"],
        "train": [*options, *QUICK, "--cache", small / "cache", "-o", tmp_path / "out.audioclass"],
    }
    done = limited([command, small / "corpus", *arguments[command]], 100)
    assert done.returncode == 1
    assert done.stdout == ""
    *warnings, last = done.stderr.splitlines()
    assert last.startswith(str(tmp_path / "out"))
    assert last.endswith("cannot be written: File too large")
    assert len(warnings) == len({line for line in warnings if line.startswith("warning: ")}) <= 1
    assert list(tmp_path.iterdir()) in ([], [tmp_path / ".out.csv.ledger"])


def test_clips_without_room_are_one_line_and_none_is_half_written(evening, tmp_path):
    clips = tmp_path / "clips"
    done = limited(["find", evening.archive, "--clips", clips, "--cache", "-"], 5000)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"{clips}/")
    assert line.endswith("cannot be written: File too large")
    assert all(soundfile.read(clip)[0].any() for clip in clips.iterdir())


def test_a_label_that_cannot_be_read_is_not_left_out_of_a_model(small, options, tmp_path, capsys):
    corpus = write_corpus(tmp_path / "corpus", 2)
    for path in (corpus / "tone").iterdir():
        path.write_bytes(path.read_bytes()[:20])
    output = tmp_path / "m.audioclass"
    assert run(["train", str(corpus), *options, *QUICK, "--cache", "-", "-o", str(output)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("label 'tone': none of its recordings could be read (2 failed, such as ")
    assert not output.exists()
    with pytest.raises(CorpusError, match="label 'tone': none of its recordings"):
        train(corpus, recipe=str(small / "small.toml"), criterion="fixed")


@pytest.mark.parametrize("n_bytes", [100, 3000])
@pytest.mark.parametrize("n_before", [0, 1], ids=["a new archive", "an archive that grows"])
def test_an_archive_without_room_is_one_line_and_is_finished_when_there_is(
    small, tmp_path, model_file, n_bytes, n_before, capsys
):
    archive, recordings = tmp_path / "archive", sorted((small / "corpus").rglob("*.wav"))
    arguments = ["index", "add", archive, "--model", model_file, "--cache", "-"]
    if n_before:
        assert run([*map(str, arguments), str(recordings[0])]) == 0
    done = limited([*arguments, *recordings], n_bytes)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == f"{archive}: cannot be written: no room"  # before it, the format may grumble
    assert "Traceback" not in done.stderr
    assert not n_before or run(["index", "verify", str(archive)]) == 0
    assert run([*map(str, arguments), *map(str, recordings)]) == 0
    assert run(["index", "verify", str(archive), "--contents"]) == 0
    assert "0 problems, 0 notes" in capsys.readouterr().err
    assert Archive(str(archive), make_run()).status().n_recordings == len(recordings)
