"""A folder with 200 good recordings and 12 damaged ones, and a run that is killed half-way."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from runs import recipe as load_recipe
from runs import run
from signals import noise

from audioclass.extraction.batch import extract_batch
from audioclass.extraction.cache import Cache
from audioclass.recordings import find_recordings

RECIPE = load_recipe("broadcast")
# The command, killed with its two processes when 80 recordings, good or not, are done.
KILLED = """
import os, signal, sys
from audioclass.cli import run
from audioclass.engine import features

def killed_half_way(*arguments):
    for number, extracted in enumerate(extract_batch(*arguments), 1):
        if number == 80:
            os.killpg(0, signal.SIGKILL)
        yield extracted

extract_batch, features.extract_batch = features.extract_batch, killed_half_way
run(["extract", *sys.argv[1:]])
"""


def damaged(folder):
    """Twelve ways in which a file with the name of a recording is none, or only the beginning of one; their names."""
    soundfile.write(folder / "whole.wav", noise(1.0), 16000)
    soundfile.write(folder / "whole.flac", noise(1.0), 16000)
    wav, flac = (folder / "whole.wav").read_bytes(), (folder / "whole.flac").read_bytes()
    for name in ("whole.wav", "whole.flac"):
        (folder / name).unlink()
    for name, content in {
        "truncated.wav": wav[: len(wav) // 2],
        "truncated.flac": flac[: len(flac) // 2],
        "empty.wav": b"",
        "text.wav": b"this is a letter, not a recording\n" * 50,
        "header.wav": wav[:20],
        "zeros.mp3": bytes(5000),
        "noise.ogg": np.random.default_rng(0).bytes(5000),
    }.items():
        (folder / name).write_bytes(content)
    spoilt = noise(1.0)
    spoilt[777] = np.nan
    soundfile.write(folder / "nan.wav", spoilt, 16000, subtype="FLOAT")
    soundfile.write(folder / "nothing.wav", np.empty(0), 16000)
    (folder / "folder.wav").mkdir()
    (folder / "gone.wav").symlink_to(folder / "not there.wav")
    os.mkfifo(folder / "pipe.wav")
    return sorted(path.name for path in folder.iterdir() if path.suffix)


@pytest.fixture
def recordings(tmp_path):
    """200 good recordings in nested folders, 12 damaged ones beside them."""
    folder = tmp_path / "recordings"
    (folder / "deep" / "déeper").mkdir(parents=True)
    bad = damaged(folder)
    for i in range(200):
        place = folder / ("deep/déeper" if i % 2 else "")
        soundfile.write(place / f"good {i:03}.{'WAV' if i % 3 else 'flac'}", noise(0.6, seed=i), 16000)
    return folder, bad


def extract(*arguments, **options):
    command = [sys.executable, "-m", "audioclass", "extract", *map(str, arguments), "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_good_are_done_the_damaged_listed_and_a_kill_costs_nothing(recordings, tmp_path):
    folder, bad = recordings
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", KILLED, str(folder), "--cache", str(cache), "--jobs", "2"]
    killed = subprocess.run(command, stderr=subprocess.DEVNULL, check=False, start_new_session=True)
    assert killed.returncode == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in cache.rglob("*.zip")}
    assert 60 <= len(kept) < 200

    done = extract(folder, "--cache", cache, "--jobs", "2", "-o", tmp_path / "out.npz")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    failed = {Path(entry["file"]).name: entry["reason"] for entry in report["files"] if entry["reason"]}
    assert sorted(failed) == bad
    assert all(name in reason and "\n" not in reason for name, reason in failed.items())
    assert sum(entry["windows"] == 1 for entry in report["files"]) == 202
    cut = {Path(entry["file"]).name for entry in report["files"] if entry["cut"]}
    assert cut == {"truncated.wav", "truncated.flac"}
    assert sum(entry["kept"] for entry in report["files"]) == len(kept)
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())  # nothing was computed twice
    assert not list(cache.rglob("*.part")) + list(tmp_path.glob(".*.part"))
    assert np.load(tmp_path / "out.npz")["X"].shape[0] == 202
    assert "202 of 212 recordings" in done.stderr


def test_jobs_do_not_change_the_result(tmp_path):
    for i in range(6):
        soundfile.write(tmp_path / f"{i}.wav", noise(2.5, seed=i), 16000)
    paths = find_recordings([tmp_path])
    tables = []
    for jobs in (1, 2):
        outcomes = {o.path: o for o in extract_batch(paths, RECIPE, Cache(tmp_path / f"cache{jobs}"), run(jobs=jobs))}
        tables.append(np.concatenate([outcomes[path].cached.load(RECIPE).X for path in paths]))
    assert np.array_equal(*tables)


def test_a_crashing_decoder_costs_only_its_own_file(tmp_path):
    for name in ("a.wav", "b.wav", "crash.wav", "d.wav"):
        soundfile.write(tmp_path / name, noise(0.5, seed=len(name)), 16000)
    (tmp_path / "sitecustomize.py").write_text(
        "import soundfile, os\n"
        "original = soundfile.SoundFile.__init__\n"
        "def opening(self, file, *a, **k):\n"
        "    if os.readlink(f'/proc/self/fd/{file}').endswith('crash.wav'): os.abort()\n"
        "    return original(self, file, *a, **k)\n"
        "soundfile.SoundFile.__init__ = opening\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = extract(tmp_path, "--cache", tmp_path / "cache", "--jobs", "2", env=environment)
    report = {Path(entry["file"]).name: entry for entry in json.loads(done.stdout)["files"]}
    assert report["crash.wav"]["reason"].endswith("the decoder crashed on it")
    assert [report[name]["windows"] for name in ("a.wav", "b.wav", "d.wav")] == [1, 1, 1]


def test_progress_is_told_inside_a_recording(tmp_path):
    soundfile.write(tmp_path / "long.wav", noise(30.0), 16000)
    told = []
    list(
        extract_batch([tmp_path / "long.wav"], RECIPE, Cache(tmp_path / "c"), run(progress=lambda *at: told.append(at)))
    )
    assert len(told) > 5
    assert [seconds for _, seconds, _ in told] == sorted(seconds for _, seconds, _ in told)
    assert told[-1] == ("long.wav", 30.0, 30.0)
