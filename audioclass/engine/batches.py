"""Many recordings classified, each by itself: a bad one is skipped and reported, a ledger lets a batch go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.audio.raw import RawFormat
from audioclass.classifier.model import Model
from audioclass.data import Cut, Result, Segment
from audioclass.engine.classifying import classify_recording
from audioclass.engine.models import ModelFile
from audioclass.engine.streaming import SegmentationOptions
from audioclass.errors import AudioclassError, ComponentError, UsageError
from audioclass.extraction.batch import CRASHED
from audioclass.recordings import regular
from audioclass.run import Progress, Run, SerialExecutor, silent
from audioclass.storage import Journal

STANDARD_INPUT = "-"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one recording: its segments, or the one line that says why there are none.

    Where it is damaged and was classified up to there, `reason` says that and `result` holds its cut.
    """

    path: Path
    result: Result | None = None
    reason: str = ""
    seconds: float = 0.0
    was_finished: bool = False

    @property
    def was_classified(self) -> bool:
        """Whether there are segments, be it of a part."""
        return self.seconds > 0

    def without_result(self) -> Outcome:
        """What the summary at the end needs."""
        return replace(self, result=None)


def classify_many(
    paths: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    run: Run,
    ledger: Ledger | None = None,
    *,
    raw: RawFormat | None = None,
) -> Iterator[Outcome]:
    """What becomes of each recording, in order of completion; what the ledger holds is not computed again."""
    left = []
    for path in paths:
        if ledger is not None and (outcome := ledger.find(path)) is not None:
            yield outcome
        else:
            left.append(path)
    executor = SerialExecutor() if Path(STANDARD_INPUT) in left else run.executor  # other processes have another input
    progress = run.progress if executor.shares_memory else silent
    file = ModelFile.of(model)
    work = partial(classify_one, model=file, options=options, progress=progress, strict=run.strict, raw=raw)
    for outcome in executor.map_unordered(work, left, lambda path: Outcome(path, reason=f"{path}: {CRASHED}")):
        if ledger is not None:
            ledger.note(outcome)
        yield outcome


def classify_one(
    path: Path,
    model: ModelFile,
    options: SegmentationOptions,
    progress: Progress = silent,
    *,
    strict: bool = False,
    raw: RawFormat | None = None,
) -> Outcome:
    """Classify a recording; an error that a user can understand becomes a reason, unless what was stated is wrong."""
    try:
        source = STANDARD_INPUT if str(path) == STANDARD_INPUT else regular(path)
        classified = classify_recording(source, model.load(), options, progress, strict=strict, raw=raw)
    except AudioclassError as error:
        if raw is not None and isinstance(error, UsageError):
            raise
        where = f"{path}: " if isinstance(error, ComponentError) else ""  # a component does not know what it is given
        return Outcome(path, reason=f"{where}{error}")
    except OSError as error:
        return Outcome(path, reason=f"{path}: {error.strerror}")
    return classified_outcome(path, classified.result, classified.seconds)


def classified_outcome(path: Path, result: Result, seconds: float, *, was_finished: bool = False) -> Outcome:
    """The outcome of a recording that was classified, to its end or up to its damage."""
    name = "standard input" if str(path) == STANDARD_INPUT else path
    reasons = [f"{name}: {cut.reason}; classified up to there" for cut in result.cuts.values()]
    return Outcome(path, result, "".join(reasons), seconds, was_finished)


def joined(outcomes: Sequence[Outcome], model: Model) -> Result:
    """One table of all recordings that were classified, in their order."""
    good = [outcome.result for outcome in outcomes if outcome.result is not None]
    P = np.concatenate([result.P for result in good]) if good else np.empty((0, len(model.labels)))
    files = tuple(file for result in good for file in result.files)
    segments = tuple(segment for result in good for segment in result.segments)
    rates = {file: rate for result in good for file, rate in result.sample_rates.items()}
    cuts = {file: cut for result in good for file, cut in result.cuts.items()}
    novelties = [result.novelty for result in good if result.novelty is not None]
    novelty = np.concatenate(novelties) if sum(map(len, novelties)) == len(files) and novelties else None
    sets = tuple(one for result in good for one in result.sets or ())
    has_sets = bool(good) and all(result.sets is not None for result in good)
    sets_of_all, independent = sets if has_sets else None, model.is_multi_label
    return Result(files, segments, P, model.labels, model.paths, rates, cuts, novelty, sets_of_all, independent)


class Ledger:
    """A journal of finished recordings beside the output; its first line says what they were classified with.

    Recordings are known by path, size and time of change; a pipe is never known.
    """

    def __init__(
        self,
        output: Path,
        model: Model,
        options: SegmentationOptions,
        *,
        resume: bool,
        strict: bool = False,
        raw: RawFormat | None = None,
    ) -> None:
        self.path = output.parent / f".{output.name}.ledger"
        self._journal = Journal(self.path)
        self._model = options.fitted(model)
        self._head: dict[str, Any] = {"made_with": _fingerprint(model, options), "strict": strict}
        if raw is not None:
            self._head["raw"] = asdict(raw)
        self._lines: dict[str, dict[str, Any]] = {}
        self.resumes = resume
        if resume and self.path.exists():
            self._lines = self._read()
        else:
            self._journal.restart(self._head)

    def find(self, path: Path) -> Outcome | None:
        """What was finished before of a recording that has not changed since."""
        line = self._lines.get(_mark(path) or "")
        return None if line is None else _outcome(path, line, self._model)

    def note(self, outcome: Outcome) -> None:
        """One more is finished; on disk before this returns."""
        self._journal.append({"mark": _mark(outcome.path), **_plain(outcome)})

    def close(self) -> None:
        """The output is written: the ledger has served."""
        self._journal.remove()

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            head, *lines = self._journal.entries() or [{}]
        except UsageError as error:
            raise UsageError(f"{self.path}: cannot be read; leave out --resume to start anew") from error
        if head != self._head:
            raise UsageError(f"{self.path}: made with another model or other options; leave out --resume to start anew")
        return {line["mark"]: line for line in lines if isinstance(line.get("mark"), str)}


def _fingerprint(model: Model, options: SegmentationOptions) -> str:
    fitted = options.fitted(model)
    identity = [model.name, list(fitted.labels), model.about.get("corpus", {}).get("fingerprint"), repr(options)]
    identity += [fitted.recipe.window, fitted.recipe.window_hop]
    if model.transitions is not None:
        identity.append(model.transitions.tolist())
    digest = hashlib.sha256(json.dumps(identity).encode())
    digest.update(np.ascontiguousarray(model.golden.P).tobytes())
    return digest.hexdigest()


def _mark(path: Path) -> str | None:
    if str(path) == STANDARD_INPUT:
        return None
    try:
        stat = path.stat()
    except OSError:
        return f"{path} absent"
    return f"{path.absolute()} {stat.st_size} {stat.st_mtime_ns}"


def _plain(outcome: Outcome) -> dict[str, Any]:
    if outcome.result is None:
        return {"reason": outcome.reason}
    segments = [[s.start, s.end, s.label] for s in outcome.result.segments]
    rate = next(iter(outcome.result.sample_rates.values()), None)
    about = {"seconds": outcome.seconds, "sample_rate": rate}
    cuts = [[cut.seconds, cut.reason] for cut in outcome.result.cuts.values()]
    line = {**about, "segments": segments, "P": outcome.result.P.tolist(), "cuts": cuts}
    if outcome.result.novelty is not None:
        line["novelty"] = outcome.result.novelty.tolist()
    if outcome.result.sets is not None:
        line["sets"] = outcome.result.sets
    return line


def _outcome(path: Path, line: Mapping[str, Any], model: Model) -> Outcome | None:
    """What a line says; None where it says nothing that makes sense, so that the recording is classified again."""
    if isinstance(line.get("reason"), str):
        return Outcome(path, reason=line["reason"], was_finished=True)
    try:
        segments = tuple(Segment(float(start), float(end), str(label)) for start, end, label in line["segments"])
        P = np.array(line["P"], np.float64).reshape(len(segments), len(model.labels))
        rates = {str(path): int(line["sample_rate"])} if line.get("sample_rate") else {}
        cuts = {str(path): Cut(float(seconds), str(reason)) for seconds, reason in line.get("cuts", [])}
        novelty = None if line.get("novelty") is None else np.array(line["novelty"], np.float64)
        sets = None if line.get("sets") is None else tuple(tuple(map(str, one)) for one in line["sets"])
        files = (str(path),) * len(segments)
        independent = model.is_multi_label
        result = Result(files, segments, P, model.labels, model.paths, rates, cuts, novelty, sets, independent)
        return classified_outcome(path, result, float(line["seconds"]), was_finished=True)
    except (KeyError, TypeError, ValueError):
        return None
