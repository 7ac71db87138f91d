"""An archive in Python: recordings are added to it, it is asked for segments, and its tables are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audioclass.audio.recorded import ClockRule
from audioclass.engine import archive_upkeep
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archive_segments import segment_anew
from audioclass.engine.archive_status import Status, status_of
from audioclass.engine.finding import Example, FoundSegments, as_told, find_segments, groups_of
from audioclass.engine.indexing import Added, Additions, add_recordings
from audioclass.engine.metadata_tables import MetadataTable
from audioclass.engine.models import DEFAULT_MODEL
from audioclass.engine.runs import make_run
from audioclass.index.query import SegmentQuery, labels_of, parse_between, parse_moment, parse_near
from audioclass.index.schema import EXTRA
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import clean_address
from audioclass.packages import import_extra
from audioclass.run import Run

if TYPE_CHECKING:
    from pandas import DataFrame


def open_archive(path: str | Path, *, run: Run | None = None) -> Archive:
    """The archive in a folder, or at the address of an object store; `add` makes it where there is none.

    `open_archive("archive/").find("speech", min_probability=0.9).to_pandas()` is a data frame of segments.
    """
    return Archive(clean_address(path), run or make_run())


@dataclass(frozen=True, eq=False)
class ArchiveTable:
    """Rows of an archive, read when they are asked for."""

    snapshot: Snapshot
    statement: str
    values: dict[str, Any]

    def to_arrow(self) -> Any:
        """A table of pyarrow."""
        return self.snapshot.arrow(self.statement, self.values)

    def to_pandas(self) -> DataFrame:
        """A data frame of pandas."""
        import_extra("pandas", "pandas")
        frame: DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> Any:
        """A data frame of Polars."""
        return import_extra("polars", EXTRA).from_arrow(self.to_arrow())


@dataclass(frozen=True, eq=False)
class Archive:
    """Recordings with their windows and segments, in a folder or an object store; every question sees its newest state.

    `model` is the name of a model, its digest or the start of it; the last one that was used where it is not stated.
    """

    address: str
    run: Run

    def add(
        self,
        *paths: str | Path,
        model: str | Path = DEFAULT_MODEL,
        segments: SegmentChoice | None = None,
        metadata: str | Path | None = None,
        timezone: str = "UTC",
        name_pattern: str | None = None,
        retry: bool = False,
        keep_features: bool = False,
        retime: bool = False,
    ) -> Added:
        """Add recordings, and folders of them; what is known and has not changed is not computed again."""
        clock = ClockRule(name_pattern, timezone)
        table = None if metadata is None else MetadataTable.read(Path(metadata), clock)
        additions = Additions(segments, clock, table, retry, keep_features, retime)
        return add_recordings(self.address, [Path(path) for path in paths], self.run, model, additions)

    def find(
        self,
        label: str | Sequence[str] = (),
        *,
        min_probability: float | None = None,
        max_probability: float | None = None,
        min_duration: float | None = None,
        max_duration: float | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        between: str | None = None,
        path: str | Sequence[str] = (),
        near: str | None = None,
        like: str | Path | None = None,
        exact: bool = False,
        sort: str = "path",
        limit: int | None = None,
        model: str | None = None,
    ) -> FoundSegments:
        """The segments that fit all that is stated, as `audioclass find` gives them."""
        snapshot = Snapshot(self.address)
        groups = groups_of(as_told(snapshot, snapshot.model(model)).taxonomy)
        query = SegmentQuery(
            labels_of([label] if isinstance(label, str) else list(label), groups),
            min_probability,
            max_probability,
            min_duration,
            max_duration,
            parse_moment(since) if isinstance(since, str) else since,
            parse_moment(until, is_end=True) if isinstance(until, str) else until,
            None if between is None else parse_between(between),
            (path,) if isinstance(path, str) else tuple(path),
            None if near is None else parse_near(near, groups),
            sort,
            limit,
        )
        example = None if like is None else Example.parse(str(like))
        return find_segments(snapshot, query, self.run, model, example, exact=exact)

    def recordings(self) -> ArchiveTable:
        """All recordings, those that are gone too."""
        return ArchiveTable(Snapshot(self.address), "FROM recordings ORDER BY path", {})

    def windows(self, model: str | None = None) -> ArchiveTable:
        """The windows of a model."""
        return self._of_model("windows", model)

    def segments(self, model: str | None = None) -> ArchiveTable:
        """The segments of a model."""
        return self._of_model("segments", model)

    def _of_model(self, table: str, model: str | None) -> ArchiveTable:
        snapshot = Snapshot(self.address)
        statement = f"FROM {table} WHERE model = $model ORDER BY content, start_s"
        return ArchiveTable(snapshot, statement, {"model": snapshot.model(model).id})

    def segment(self, choice: SegmentChoice, model: str | None = None) -> int:
        """Make all segments of a model anew from its windows; how many there are then."""
        return segment_anew(self.address, choice, self.run, model)

    def status(self) -> Status:
        """What the archive holds."""
        return status_of(Snapshot(self.address))

    def verify(self, *, contents: bool = False) -> archive_upkeep.Verified:
        """What is wrong with it."""
        return archive_upkeep.verify(self.address, self.run, contents=contents)

    def prune(self, *, delete: bool = False) -> archive_upkeep.Pruned:
        """Mark recordings that are gone, and remove what is known of them where it is to `delete`."""
        return archive_upkeep.prune(self.address, delete=delete)

    def compact(self, keep_days: float = 7.0) -> dict[str, tuple[int, int]]:
        """Join small files."""
        return archive_upkeep.compact(self.address, self.run, keep_days)
