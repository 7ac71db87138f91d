"""What libsndfile does not read (m4a, aac, video): through the program ffmpeg, else through the library PyAV.

Both give the first audio track at its own rate and channels, stop at the first damaged packet, and take a length
only from containers that state one; the rest is guessed from the bit rate.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from audioclass.audio.source import Source
from audioclass.audio.streams import Sound, Unreadable, plain_sound

STATING_CONTAINERS = ("mp4", "matroska")
TOLERANCE = 1.0  # seconds: encoders count their padding in different ways
LOCAL_ONLY = ("-v", "error", "-protocol_whitelist", "file,pipe")
NO_TRACK = "holds no audio track"
HOW_TO_READ_MORE = "this format needs ffmpeg (or pip install 'audioclass[video]')"


def foreign_sound(path: Path, file: BinaryIO, stack: ExitStack) -> Sound:
    """The first audio track of a file of any format that what is installed can read."""
    if has_ffmpeg():
        seconds = _probed_seconds(path)
        return _stating(ffmpeg_sound(_url(path), subprocess.DEVNULL, stack), seconds)
    if find_spec("av"):
        return _av_sound(file, stack)
    raise Unreadable(HOW_TO_READ_MORE)


def has_ffmpeg() -> bool:
    """Whether the program is on the PATH."""
    return shutil.which("ffmpeg") is not None


def ffmpeg_sound(url: str, stdin: int, stack: ExitStack) -> Sound:
    """What ffmpeg makes of a file, or of its standard input as `pipe:0`, while it is still decoding."""
    errors = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    track = ("-map", "0:a:0", "-c:a", "pcm_f32le", "-f", "wav", "pipe:1")
    command = ("ffmpeg", "-nostdin", "-xerror", *LOCAL_ONLY, "-i", url, *track)
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors)
    stack.callback(_end, process)
    sound = plain_sound(Source(cast(BinaryIO, process.stdout)))
    if sound is None:
        process.wait()
        raise Unreadable(_last_line(errors))
    return Sound(sound.sample_rate, sound.channels, None, _until_exit(sound.arrays, process, errors))


def _until_exit(
    arrays: Iterator[np.ndarray], process: subprocess.Popen[bytes], errors: BinaryIO
) -> Iterator[np.ndarray]:
    yield from arrays
    failed = process.wait() != 0
    reason = _last_line(errors)
    if failed or reason.endswith("prematurely"):  # what it says of a Matroska file that was cut, and calls a success
        raise Unreadable(reason)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    cast(BinaryIO, process.stdout).close()
    process.wait()


def _probed_seconds(path: Path) -> float | None:
    """Duration that the container states for its first audio track, or that of its only one."""
    if shutil.which("ffprobe") is None:
        return None
    wanted = "format=format_name,nb_streams,duration:stream=codec_type,duration"
    command = ("ffprobe", *LOCAL_ONLY, "-show_entries", wanted, "-of", "json", _url(path))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise Unreadable(_plain_line(done.stderr))
    probed = json.loads(done.stdout)
    tracks = [track for track in probed["streams"] if track["codec_type"] == "audio"]
    if not tracks:
        raise Unreadable(NO_TRACK)
    whole = probed["format"].get("duration") if len(probed["streams"]) == 1 else None
    return _stated_seconds(probed["format"]["format_name"], tracks[0].get("duration") or whole)


def _stated_seconds(container: str, seconds: Any) -> float | None:
    return float(seconds) if seconds and any(name in container for name in STATING_CONTAINERS) else None


def _stating(sound: Sound, seconds: float | None) -> Sound:
    declared = None if seconds is None else round(seconds * sound.sample_rate)
    return Sound(sound.sample_rate, sound.channels, declared, sound.arrays, TOLERANCE)


def _url(path: Path) -> str:
    # The scheme and the root keep a dash, a colon or a percent sign in the name from meaning anything.
    return f"file:{path.absolute()}"


def _last_line(errors: BinaryIO) -> str:
    errors.seek(0)
    return _plain_line(errors.read())


def _plain_line(errors: bytes) -> str:
    """The last thing that ffmpeg said, without the address and the name before it."""
    lines = errors.decode(errors="replace").strip().splitlines()
    line = re.sub(r"^\[[^\]]*\] ", "", lines[-1]) if lines else "nothing"
    return f"ffmpeg says: {line.rpartition(': ')[2].rstrip('.')}"


def _av_sound(file: BinaryIO, stack: ExitStack) -> Sound:
    import av

    # Tags in another encoding must do no harm; from PyAV 19 on they never do, and the argument is gone.
    tolerant: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.partition(".")[0]) < 19 else {}
    try:
        container = stack.enter_context(av.open(file, "r", **tolerant))
    except av.FFmpegError as error:
        raise Unreadable(f"PyAV says: {error.strerror}") from error
    if not container.streams.audio:
        raise Unreadable(NO_TRACK)
    track = container.streams.audio[0]
    if track.codec_context is None:
        raise Unreadable("PyAV says: no decoder for the first audio track")
    seconds: float | None = None
    if track.duration and track.time_base:
        seconds = float(track.duration * track.time_base)
    elif len(container.streams) == 1 and container.duration:
        seconds = container.duration / av.time_base
    sound = Sound(track.rate, track.channels, None, _av_arrays(container, track))
    return _stating(sound, _stated_seconds(container.format.name, seconds))


def _av_arrays(container: Any, track: Any) -> Iterator[np.ndarray]:
    import av

    resampler = av.AudioResampler("flt", track.layout, track.rate)
    try:
        for frame in container.decode(track):
            yield from _packed(resampler.resample(frame), track.channels)
        yield from _packed(resampler.resample(None), track.channels)
    except av.FFmpegError as error:
        raise Unreadable(f"PyAV says: {error.strerror}") from error


def _packed(frames: list[Any], channels: int) -> Iterator[np.ndarray]:
    return (frame.to_ndarray().reshape(-1, channels) for frame in frames)
