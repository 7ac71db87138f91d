"""Many recordings classified: each by itself, a bad one costing only itself, a ledger so that a batch goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass.data import Result, Segment
from audioclass.engine.classifying import Heard, Reading, hear, loaded
from audioclass.errors import AudioclassError, UsageError
from audioclass.recordings import Progress, regular

if TYPE_CHECKING:
    from audioclass.model.model import Model


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one recording: its segments, or the one line that says why there are none."""

    path: Path
    result: Result | None = None
    reason: str = ""
    seconds: float = 0.0
    seconds_taken: float = 0.0
    was_kept: bool = False


def classify_many(
    paths: Sequence[Path],
    model: str,
    reading: Reading,
    *,
    jobs: int = 1,
    ledger: Ledger | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """An outcome for each recording, in order of completion; what the ledger holds is not computed again."""
    kept = ledger.kept() if ledger else {}
    left = []
    for path in paths:
        if (mark := _mark(path)) in kept:
            yield _outcome(path, kept[mark], loaded(model))
        else:
            left.append(path)
    for outcome in _fresh(left, model, reading, jobs, progress):
        if ledger is not None:
            ledger.note(_mark(outcome.path), outcome)
        yield outcome


def _fresh(
    paths: Sequence[Path], model: str, reading: Reading, jobs: int, progress: Progress | None
) -> Iterator[Outcome]:
    from audioclass.extraction.parallel import for_each

    if jobs == 1 or len(paths) < 2:
        yield from (classify_one(path, model, reading, progress) for path in paths)
        return
    work = partial(classify_one, model=model, reading=reading)
    yield from for_each(work, paths, jobs, lambda path, reason: Outcome(path, reason=reason))


def classify_one(path: Path, model: str, reading: Reading, progress: Progress | None = None) -> Outcome:
    """Classify a recording; an error that a user can understand becomes a reason."""
    try:
        source = "-" if str(path) == "-" else regular(path)
        heard: Heard = hear(source, loaded(model), reading, progress=progress)
    except AudioclassError as error:
        return Outcome(path, reason=str(error))
    except OSError as error:
        return Outcome(path, reason=f"{path}: {error.strerror}")
    return Outcome(path, heard.result, seconds=heard.seconds, seconds_taken=heard.seconds_taken)


def joined(outcomes: Sequence[Outcome], model: Model) -> Result:
    """One table of all recordings that were classified, in their order."""
    good = [outcome.result for outcome in outcomes if outcome.result is not None]
    P = np.concatenate([result.P for result in good]) if good else np.empty((0, len(model.labels)))
    files = tuple(file for result in good for file in result.files)
    return Result(files, tuple(s for result in good for s in result.segments), P, model.labels, model.paths)


class Ledger:
    """A file of finished recordings, a line each, beside the output; the first line says what they were made with.

    A line that was cut off by a kill is passed over. Recordings are known by path, size and time of change.
    """

    def __init__(self, output: Path, model: Model, reading: Reading, *, resume: bool) -> None:
        self.path = output.parent / f".{output.name}.ledger"
        self._head = {"made_with": _fingerprint(model, reading)}
        self._lines = self._read() if resume else []
        if not self._lines:
            self.path.write_text(json.dumps(self._head) + "\n", encoding="utf-8")

    def kept(self) -> dict[str, dict[str, Any]]:
        """What was finished before, by the mark of its recording."""
        return {line["mark"]: line for line in self._lines}

    def note(self, mark: str, outcome: Outcome) -> None:
        """One more is finished; on disk before this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"mark": mark, **_plain(outcome)}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        """The output is written: the ledger has served."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> list[dict[str, Any]]:
        try:
            head, *lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return []
        if _parsed(head) != self._head:
            raise UsageError(f"{self.path}: made with another model or other options; leave out --resume to start anew")
        self._mend(lines)
        return [line for line in map(_parsed, lines) if line and "mark" in line]

    def _mend(self, lines: Sequence[str]) -> None:
        """End a line that was cut off, so that the next one stands by itself."""
        if lines and not self.path.read_bytes().endswith(b"\n"):
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n")


def _parsed(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _fingerprint(model: Model, reading: Reading) -> str:
    said = [model.name, list(model.labels), model.about.get("corpus", {}).get("fingerprint"), repr(reading)]
    digest = hashlib.sha256(json.dumps(said).encode())
    digest.update(np.ascontiguousarray(model.golden.P).tobytes())
    return digest.hexdigest()


def _mark(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return f"{path} absent"
    return f"{path.absolute()} {stat.st_size} {stat.st_mtime_ns}"


def _plain(outcome: Outcome) -> dict[str, Any]:
    if outcome.result is None:
        return {"reason": outcome.reason}
    segments = [[s.start, s.end, s.label] for s in outcome.result.segments]
    return {"seconds": outcome.seconds, "segments": segments, "P": outcome.result.P.tolist()}


def _outcome(path: Path, line: Mapping[str, Any], model: Model) -> Outcome:
    if "segments" not in line:
        return Outcome(path, reason=str(line.get("reason", "")), was_kept=True)
    segments = tuple(Segment(float(start), float(end), str(label)) for start, end, label in line["segments"])
    P = np.array(line["P"], np.float64).reshape(len(segments), len(model.labels))
    result = Result((str(path),) * len(segments), segments, P, model.labels, model.paths)
    return Outcome(path, result, seconds=float(line["seconds"]), was_kept=True)
