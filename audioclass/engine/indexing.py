"""An archive that grows: recordings are added, and what is known of them is not computed again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from audioclass.audio.recorded import ClockRule, RecordedAt
from audioclass.classifier.blame import versions
from audioclass.engine.analysing import (
    Analysis,
    Analyst,
    SegmentChoice,
    check_choice,
    content_id,
    file_facts,
    is_text,
    segmented,
    versions_of,
)
from audioclass.engine.archive_rows import analysis_rows, recording_rows, segment_rows, window_rows
from audioclass.engine.archived_models import ArchivedModel, register_model
from audioclass.engine.archived_recordings import CLOCK, mark_removed, move_facts, write_metadata, write_times
from audioclass.engine.metadata_tables import MetadataTable
from audioclass.engine.models import DEFAULT_MODEL, ModelFile
from audioclass.engine.stream_windows import with_stream_windows
from audioclass.errors import AudioclassError, UsageError
from audioclass.extraction.batch import CRASHED
from audioclass.extraction.cache import Cache
from audioclass.index.schema import EXTRA, TABLES
from audioclass.index.snapshot import Snapshot, segment_options
from audioclass.index.tables import Inserter, Table, clean_address, files_of, is_remote
from audioclass.packages import import_extra
from audioclass.recordings import absolute, find_recordings
from audioclass.run import Run, silent

PACKAGES = ("deltalake", "duckdb", "pyarrow")
COMMIT_EVERY = 20.0  # seconds: what a kill may cost, to be computed again
WINDOWS_TOGETHER = 200_000  # of a commit, at most about
TIMES = """
SELECT path, recorded_at::TIMESTAMP, utc_offset_minutes FROM recordings
WHERE content IS NOT NULL AND clock_source IS DISTINCT FROM 'table'
"""
KNOWN = """
SELECT r.path, r.content, r.bytes, r.modified_ns, r.removed_at IS NOT NULL, r.seconds, r.sample_rate, r.channels,
    a.content IS NOT NULL, coalesce(a.reason, r.reason)
FROM recordings AS r LEFT JOIN analyses AS a ON a.content = r.content AND a.model = ?
"""


@dataclass(frozen=True)
class Additions:
    """How recordings are added to an archive.

    `segments` of None goes on with what the archive has, as does what a mapping leaves out. Recordings that failed
    before are tried again where it `retries`; features are put into the cache of the run where it `keeps_features`;
    start times of recordings that are known are found anew where it `retimes`.
    """

    segments: SegmentChoice | Mapping[str, Any] | None = None
    clock: ClockRule = field(default_factory=ClockRule)
    metadata: MetadataTable | None = None
    retries: bool = False
    keeps_features: bool = False
    retimes: bool = False


@dataclass
class Added:
    """What became of an addition."""

    n_recordings: int = 0
    n_unchanged: int = 0
    n_computed: int = 0
    n_moved: int = 0
    n_copies: int = 0
    n_failed_before: int = 0
    n_retimed: int = 0
    n_windows: int = 0
    seconds: float = 0.0
    failures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownRecording:
    """What an archive knows of a path; `is_analysed` by the model at hand, and how that went."""

    path: str
    content: str | None
    bytes: int
    modified_ns: int
    is_removed: bool
    seconds: float | None
    sample_rate: int | None
    channels: int | None
    is_analysed: bool
    reason: str | None

    def is_as(self, file: Analysis) -> bool:
        """Whether the file has not changed since."""
        return not self.is_removed and (self.bytes, self.modified_ns) == (file.bytes, file.modified_ns)

    def at(self, file: Analysis, clock: ClockRule) -> Analysis:
        """The same recording in another place."""
        return replace(
            file,
            content=self.content or "",
            seconds=self.seconds or 0.0,
            sample_rate=self.sample_rate,
            channels=self.channels,
            reason=self.reason or "",
            recorded=clock.find(file.path),
        )


def add_recordings(
    address: str | Path,
    paths: Sequence[Path],
    run: Run,
    model: str | Path = DEFAULT_MODEL,
    additions: Additions | None = None,
) -> Added:
    """Add recordings, and folders of them, to an archive; it is made where there is none."""
    additions, archive = additions or Additions(), clean_address(address)
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    recordings = [absolute(path) for path in find_recordings(paths)]
    files = list(dict.fromkeys(path for path in recordings if not path.is_relative_to(archive)))
    if additions.metadata is not None:
        additions.metadata.check(files)
    if not is_there(archive):  # what does not fit is refused before anything is made
        stated = _stated(additions.segments, SegmentChoice())
        check_choice(stated, with_stream_windows(ModelFile.of(model).load()), run)
    create_archive(archive)
    return ArchiveWriter(archive, register_model(archive, model), additions, run).add(files)


def is_there(archive: str) -> bool:
    """Whether a folder holds the tables of an archive; of an object store nobody knows before they are opened."""
    return not is_remote(archive) and all((Path(archive) / name).exists() for name in TABLES)


def create_archive(archive: str) -> None:
    """Make the tables of an archive where they are not; a folder of something else is refused."""
    for package in PACKAGES:
        import_extra(package, EXTRA)
    if not is_remote(archive):
        folder = Path(archive)
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{archive}: is a file, an archive is a folder")
        others = [entry.name for entry in folder.iterdir()] if folder.exists() else []
        if others and not set(others) & set(TABLES):
            raise UsageError(f"{archive}: holds other files; an archive needs a folder of its own")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{archive}: cannot be made: {error.strerror}") from error
    for name in TABLES:
        Table.named(archive, name).create()


class ArchiveWriter:
    """Adds recordings to an archive with one model, some at a time; a kill costs what was not committed.

    Windows are written first, then segments, then that the recording was analysed and where it lies: whatever of it a
    kill leaves undone is done by the next addition, and what is there is not written again.
    """

    def __init__(self, archive: str, model: ArchivedModel, additions: Additions, run: Run) -> None:
        self._archive, self._model, self._additions, self._run = archive, model, additions, run
        self._snapshot = Snapshot(archive)
        self._choice = self._chosen()
        self._inserters = {name: self._inserter(name) for name in ("windows", "segments", "analyses")}
        self._waiting: list[Analysis] = []  # analysed now
        self._found_again: list[Analysis] = []  # analysed before, in another place
        self._left: dict[str, str] = {}  # paths that recordings were moved away from, and where to
        self._n_waiting = 0  # windows
        self._committed_at = time.monotonic()
        self.added = Added()

    def _chosen(self) -> SegmentChoice:
        """How segments are made: as those that are there."""
        stored = segment_options(self._snapshot.files("segments", self._model.known.id))
        before = SegmentChoice() if stored is None else SegmentChoice.of_json(stored)
        choice = _stated(self._additions.segments, before)
        if stored is None or choice.depth != before.depth:
            choice = choice.for_model(self._model.model)
        if stored is not None and choice != before:
            options = before.to_options()
            raise UsageError(
                f"{self._archive}: its segments were made with {options}; `audioclass index segment` makes all anew"
            )
        return choice

    def _inserter(self, name: str) -> Inserter:
        """Knows what the table holds: of all that was analysed, though a kill may have left it without a path."""
        rows = self._snapshot.rows(
            "SELECT content FROM analyses WHERE model = $model UNION "  # noqa: S608 (our own names)
            f"SELECT DISTINCT content FROM {name} WHERE model = $model",
            {"model": self._model.known.id},
        )
        seen = set(self._snapshot.files(name, self._model.known.id))
        return Inserter(Table.named(self._archive, name), self._model.known.id, {row[0] for row in rows}, seen)

    def add(self, files: Sequence[Path]) -> Added:
        """Add what is new or has changed; the rest is left as it is."""
        self.added.n_recordings = len(files)
        if self._additions.retries:
            self._forget_failures(files)
        todo = self._todo(files)
        n_done = len(files) - len(todo)
        self._run.progress("recordings", n_done, len(files))
        for number, analysis in enumerate(self._analysed(todo) if todo else (), start=n_done + 1):
            self._take(analysis)
            self._run.progress("recordings", number, len(files))
        self._commit()
        if self._additions.retimes:
            self.added.n_retimed = write_times(self._archive, self._other_times(files))
        if self._additions.metadata is not None:
            write_metadata(self._archive, files, self._additions.metadata)
        return self.added

    def _todo(self, files: Sequence[Path]) -> list[Path]:
        """The recordings that have to be analysed; of those that were found again in another place, that is noted."""
        known = {row[0]: KnownRecording(*row) for row in self._snapshot.rows(KNOWN, [self._model.known.id])}
        analysed = [each for each in known.values() if each.is_analysed and not self._is_tried_again(each)]
        sizes, by_content = {each.bytes for each in analysed}, {each.content: each for each in analysed}
        todo: dict[Path, Analysis | None] = {}
        for path in files:
            before, file = known.get(str(path)), _facts(path)
            if file and before and before.is_as(file) and before.is_analysed and not self._is_tried_again(before):
                self.added.n_unchanged += 1
                self.added.n_failed_before += before.reason is not None
            else:
                todo[path] = file
        maybe = [path for path, file in todo.items() if file is not None and file.bytes in sizes]
        for path, content in zip(maybe, self._run.map("contents", content_id, maybe), strict=True):
            if content in by_content and (file := todo[path]) is not None:
                here = known.get(str(path))  # one that was touched is no copy of another
                self._note_again(here if here and here.content == content else by_content[content], file)
                del todo[path]
        return list(todo)

    def _other_times(self, files: Sequence[Path]) -> dict[Path, RecordedAt]:
        """Start times that are not those of the archive; what a table said stays."""
        known = {Path(path): (at, offset) for path, at, offset in Snapshot(self._archive).rows(TIMES)}
        times = {file: self._additions.clock.find(file) for file in files if file in known}
        return {
            file: time
            for file, time in times.items()
            if time is not None and known[file] != (time.at.replace(tzinfo=None), time.offset // timedelta(minutes=1))
        }

    def _forget_failures(self, files: Sequence[Path]) -> None:
        """Remove what is known of contents that failed: where they are tried again, all of it is written anew."""
        paths = set(map(str, files))
        known = [KnownRecording(*row) for row in self._snapshot.rows(KNOWN, [self._model.known.id])]
        contents = {one.content for one in known if one.path in paths and one.is_analysed and one.reason is not None}
        predicate = f"content IN ({', '.join(map(repr, sorted(filter(None, contents))))})"
        for name in ("segments", "windows", "analyses") if contents else ():
            Table.named(self._archive, name).delete(f"model = '{self._model.known.id}' AND {predicate}")
            self._inserters[name].present -= contents

    def _is_tried_again(self, known: KnownRecording) -> bool:
        return self._additions.retries and known.reason is not None

    def _note_again(self, before: KnownRecording, file: Analysis) -> None:
        """A recording of a content that was analysed: it was moved, copied or touched."""
        self._found_again.append(before.at(file, self._additions.clock))
        if before.path == str(file.path):
            self.added.n_unchanged += 1
        elif Path(before.path).exists() or before.path in self._left:
            self.added.n_copies += 1
        else:
            self.added.n_moved += 1
            self._left[before.path] = str(file.path)

    def _analysed(self, files: Sequence[Path]) -> Iterator[Analysis]:
        run, folder = self._run, self._run.cache
        analyst = Analyst(
            self._model.file,
            self._model.projection,
            check_choice(self._choice, self._model.model, run),
            None if folder is None else Cache(folder / "features").prepare(),
            keeps=self._additions.keeps_features,
            clock=self._additions.clock,
            strict=run.strict,
            progress=run.progress if run.executor.shares_memory else silent,
        )
        return run.executor.map_unordered(analyst, files, _crashed)

    def _take(self, analysis: Analysis) -> None:
        """One more is analysed; it is written with others, some seconds later at most."""
        if analysis.reason:
            self.added.failures[str(analysis.path)] = analysis.reason
        if not is_text(analysis.path):
            return
        self._waiting.append(analysis)
        self.added.n_computed += analysis.windows is not None
        self.added.seconds += analysis.seconds
        self._n_waiting += 0 if analysis.windows is None else len(analysis.windows.P)
        if self._n_waiting >= WINDOWS_TOGETHER or time.monotonic() - self._committed_at > COMMIT_EVERY:
            self._commit()

    def _commit(self) -> None:
        model = self._model.known
        several = {one.content: one for one in self._waiting if one.content}
        windows = {content: one.windows for content, one in several.items() if one.windows is not None}
        if windows:
            self._inserters["windows"].insert(lambda version: window_rows(windows, model.id, model.labels))
            self._inserters["segments"].insert(partial(self._segments_for, several))
        if several:
            self._inserters["analyses"].insert(
                lambda version: analysis_rows(list(several.values()), model.id, self._versions())
            )
        recordings = recording_rows([*self._waiting, *self._found_again])
        Table.named(self._archive, "recordings").upsert(recordings, where="old.clock_source = 'table'", stays=CLOCK)
        if self._left:
            move_facts(self._snapshot, self._left)
            mark_removed(self._archive, list(self._left))
        self.added.n_windows += sum(len(each.P) for each in windows.values())
        self._waiting, self._found_again, self._left, self._n_waiting = [], [], {}, 0
        self._committed_at = time.monotonic()

    def _versions(self) -> str:
        return versions_of(self._model.model.about, versions())

    def _segments_for(self, analyses: Mapping[str, Analysis], version: Any) -> Any:
        """Segments as those that are there: made anew where somebody has changed how, meanwhile."""
        model = self._model
        stored = segment_options(files_of(version, model.known.id))
        results = {content: one.result for content, one in analyses.items() if one.result is not None}
        if stored is not None and stored != self._choice.to_json():
            self._choice = SegmentChoice.of_json(stored)
        options = check_choice(self._choice, model.model, self._run)
        for content, one in analyses.items():
            if one.windows is not None and one.options != options:
                results[content] = segmented(one.windows, model.model, options, str(one.path))
        return segment_rows(results, model.known.id, self._choice.to_json())


def _stated(segments: SegmentChoice | Mapping[str, Any] | None, before: SegmentChoice) -> SegmentChoice:
    """How segments are made where some of it is stated, and the rest is as before."""
    return segments if isinstance(segments, SegmentChoice) else replace(before, **(segments or {}))


def _facts(path: Path) -> Analysis | None:
    """What the file system says of a recording; None where who analyses it will say what is wrong."""
    try:
        return file_facts(path)
    except (AudioclassError, OSError):
        return None


def _crashed(path: Path) -> Analysis:
    facts = _facts(path) or Analysis(path)
    return replace(facts, content=content_id(path), reason=f"{path}: {CRASHED}")
