"""The tables of an archive and their columns: plain types, and names that SQL takes without quotes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from audioclass.packages import import_extra

EXTRA = "index"

STAMP = "timestamp"  # in microseconds, UTC


@dataclass(frozen=True)
class Column:
    """The type of a column, by its name in `ARROW_TYPES`, and what it says."""

    type: str
    meaning: str


@dataclass(frozen=True)
class TableSchema:
    """A table: its columns, those that tell one row from another, and the one whose values have folders of their own.

    Where it is `open`, further columns may be added: those of a user's table.
    """

    name: str
    columns: Mapping[str, Column]
    key: tuple[str, ...]
    partitioned_by: str | None = None
    open: bool = False

    def arrow(self) -> Any:
        """The schema as pyarrow has it."""
        arrow = import_extra("pyarrow", EXTRA)
        return arrow.schema([(name, arrow_types()[column.type]) for name, column in self.columns.items()])


@cache
def arrow_types() -> dict[str, Any]:
    """The types of columns as pyarrow has them."""
    arrow = import_extra("pyarrow", EXTRA)
    return {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "boolean": arrow.bool_(),
        "number": arrow.float64(),
        "single": arrow.float32(),
        "bytes": arrow.binary(),
        "texts": arrow.list_(arrow.string()),
        "singles": arrow.list_(arrow.float32()),
        STAMP: arrow.timestamp("us", tz="UTC"),
    }


RECORDINGS = TableSchema(
    "recordings",
    {
        "path": Column("text", "where the recording lies, as an absolute path"),
        "content": Column("text", "digest of its bytes: the same for copies; null where these could not be read"),
        "bytes": Column("integer", "size of the file"),
        "modified_ns": Column("integer", "when the file was last changed, in nanoseconds since 1970"),
        "seconds": Column("number", "duration"),
        "sample_rate": Column("integer", "samples a second, as stored"),
        "channels": Column("integer", "number of channels, as stored"),
        "recorded_at": Column(STAMP, "when the recording starts, in UTC; null where nothing tells"),
        "utc_offset_minutes": Column("integer", "the local clock where it was made, ahead of UTC"),
        "clock_source": Column("text", "what tells when: name, bwf, guano, audiomoth or table"),
        "reason": Column("text", "why it could not be read, or not to its end; null where it could"),
        "added_at": Column(STAMP, "when it was added, or last found to have changed"),
        "removed_at": Column(STAMP, "when it was found to be gone; null where it is there"),
    },
    key=("path",),
    open=True,
)

MODELS = TableSchema(
    "models",
    {
        "model": Column("text", "short name of the model: the start of its digest"),
        "name": Column("text", "what the model calls itself"),
        "digest": Column("text", "digest of the model file"),
        "labels": Column("texts", "its labels, in the order of posteriors"),
        "independent": Column("boolean", "whether several labels may hold at once: posteriors do not sum to 1 then"),
        "taxonomy": Column("text", "for each label the names of the groups above it and its own, as JSON"),
        "window_s": Column("number", "length of a window in seconds"),
        "hop_s": Column("number", "from one window to the next in seconds"),
        "cell_s": Column("number", "from one level to the next in seconds"),
        "file": Column("bytes", "the model file itself"),
        "projection": Column("bytes", "what turns prepared features into vectors, as an .npz of numpy"),
        "added_at": Column(STAMP, "when it was first used"),
    },
    key=("model",),
)

ANALYSES = TableSchema(
    "analyses",
    {
        "content": Column("text", "digest of the recording's bytes"),
        "model": Column("text", "short name of the model"),
        "seconds": Column("number", "seconds of audio that were classified"),
        "n_windows": Column("integer", "how many windows"),
        "reason": Column("text", "why there are none, or only some; null where all is well"),
        "seconds_taken": Column("number", "how long it took"),
        "versions": Column("text", "what computed it: audioclass, python, numpy, scipy, and plugins, as JSON"),
        "analysed_at": Column(STAMP, "when"),
    },
    key=("content", "model"),
)

WINDOWS = TableSchema(
    "windows",
    {
        "model": Column("text", "short name of the model"),
        "content": Column("text", "digest of the recording's bytes"),
        "start_s": Column("number", "start in seconds from the start of the recording"),
        "end_s": Column("number", "end in seconds"),
        "label": Column("text", "the label of the largest posterior"),
        "probability": Column("single", "that posterior, before smoothing"),
        "posteriors": Column("singles", "one for each label of the model, in their order"),
        "strangeness": Column("single", "nonconformity to what was trained on; null where the model knows none"),
        "border_ms": Column(
            "integer",
            "milliseconds from the middle to the next window to where the sound changes; of the last window, from its"
            " end to that of the recording",
        ),
        "levels": Column("bytes", "from its start to that of the next, dB of full scale a cell as signed bytes"),
        "vector": Column("bytes", "for search by example, signed bytes: near vectors sound alike to the model"),
    },
    key=("content", "model"),
    partitioned_by="model",
)

SEGMENTS = TableSchema(
    "segments",
    {
        "model": Column("text", "short name of the model"),
        "content": Column("text", "digest of the recording's bytes"),
        "start_s": Column("number", "start in seconds from the start of the recording"),
        "end_s": Column("number", "end in seconds"),
        "label": Column("text", "label, or what a doubtful one is called: a group, or unknown"),
        "probability": Column("single", "mean posterior over the windows of the segment; null for unknown"),
        "runner_up": Column("text", "the likeliest label besides it; null where labels are independent"),
        "runner_up_probability": Column("single", "its posterior"),
        "novelty": Column("single", "p-value that it belongs to what was trained on; null where nobody knows"),
        "posteriors": Column("singles", "one for each label that is told: those of the model, or groups of them"),
        "options": Column("text", "how windows became segments, as JSON"),
    },
    key=("content", "model"),
    partitioned_by="model",
)

TABLES = {table.name: table for table in (RECORDINGS, MODELS, ANALYSES, WINDOWS, SEGMENTS)}
