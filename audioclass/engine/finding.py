"""Segments found in an archive: by what they are called and when they were, and by a sound that they are like."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import soundfile

from audioclass.audio.blocks import cut_blocks, read_blocks
from audioclass.audio.decode import open_audio
from audioclass.audio.stretches import read_stretch
from audioclass.classifier.model import Model
from audioclass.data import Features, Result, Segment
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archived_models import ArchivedModel, archived_model
from audioclass.errors import AudioclassError, AudioFileError, UsageError
from audioclass.extraction.extract import extract_features
from audioclass.index.query import SegmentQuery
from audioclass.index.schema import EXTRA
from audioclass.index.similar import Hits, vectors_of
from audioclass.index.snapshot import KnownModel, Snapshot, segment_options
from audioclass.label_views import LabelView
from audioclass.packages import import_extra
from audioclass.recordings import regular
from audioclass.run import Run
from audioclass.segmentation.back_off import UNKNOWN
from audioclass.segmentation.silence import SILENCE
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_QUERIES = 64  # windows of an example
DEFAULT_LIMIT = 50  # of segments like an example
AROUND = 2  # hops of a window that is read once more: frames at its ends reach beyond them
READ_AGAIN = 3  # times as many as are wanted are compared once more, where that is to be exact
EXAMPLE = re.compile(r"(?P<path>.+)@(?P<start>\d+(?:\.\d+)?)-(?P<end>\d+(?:\.\d+)?)")


@dataclass(frozen=True, eq=False)
class FoundSegments:
    """Segments with the local clock time of each, None where nobody knows, and how similar each is to an example."""

    result: Result
    times: tuple[datetime | None, ...]
    similarities: tuple[float, ...] | None = None

    def to_pandas(self) -> DataFrame:
        """The data frame of the result, with columns `at` and, of an example, `similarity`; needs pandas."""
        frame = self.result.to_pandas()
        frame.insert(3, "at", list(self.times))
        if self.similarities is not None:
            frame.insert(4, "similarity", list(self.similarities))
        return frame


@dataclass(frozen=True)
class Example:
    """A recording, or a stretch of one from `start` to `end` in seconds, that segments are to be like."""

    path: Path
    start: float = 0.0
    end: float = float("inf")

    @classmethod
    def parse(cls, text: str) -> Example:
        """`clip.wav` or `clip.wav@12.5-15`."""
        match = EXAMPLE.fullmatch(text)
        if match is None or Path(text).exists():
            return cls(Path(text))
        start, end = float(match["start"]), float(match["end"])
        if start >= end:
            raise UsageError(f"{text}: the stretch ends before it starts")
        return cls(Path(match["path"]), start, end)


def find_segments(
    snapshot: Snapshot,
    query: SegmentQuery,
    run: Run,
    model: str | None = None,
    example: Example | None = None,
    *,
    exact: bool = False,
) -> FoundSegments:
    """The segments that a query asks for, in its order; like an example, the most similar first.

    Similarity is that of vectors; where it is to be `exact`, the recordings of the nearest are read once more, and
    compared in the whole space of the model's kernels.
    """
    if exact and example is None:
        raise UsageError("--exact needs --like with an example")
    if example is None:
        if query.sort.removeprefix("-") == "similarity":
            raise UsageError("--sort similarity needs --like with an example")
        known = snapshot.model(model)
        statement, values = query.statement(known.id)
        return _found(snapshot.arrow(statement, values), as_told(snapshot, known))
    with archived_model(snapshot, model, run) as archived:
        return _find_like(snapshot, query, run, archived, example, exact=exact)


def as_told(snapshot: Snapshot, model: KnownModel) -> KnownModel:
    """The model with the labels that its segments have, which are groups where these are told less deep."""
    stored = segment_options(snapshot.files("segments", model.id))
    depth = None if stored is None else SegmentChoice.of_json(stored).depth
    view = None if depth is None else LabelView.at_depth(model.labels, model.taxonomy, depth)
    return model if view is None else replace(model, labels=view.labels, taxonomy=view.taxonomy)


def groups_of(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    """What segments may be called, whatever the labels of the model, with the labels below each."""
    groups = {node.name: tuple(node.labels) for node in taxonomy.groups if node.name}
    return {UNKNOWN: (), SILENCE: (), **groups, **{label: (label,) for label in taxonomy.labels}}


def _find_like(
    snapshot: Snapshot, query: SegmentQuery, run: Run, archived: ArchivedModel, example: Example, *, exact: bool
) -> FoundSegments:
    """More and more windows, until enough segments hold one of them or there are no more."""
    projection, limit = archived.projection, query.limit or DEFAULT_LIMIT
    nearest = replace(query, limit=limit * (READ_AGAIN if exact else 1), sort="similarity")
    rows = _prepared(example, archived)
    codes, statement = projection.codes(rows), nearest.statement(archived.known.id, like=True)
    vectors = vectors_of(snapshot, archived.known, projection.n_axes, run)
    count = 4 * limit
    while True:
        hits = vectors.nearest(codes, count)
        snapshot.connection().register("hits", _hits_table(hits))
        table = snapshot.arrow(*statement)
        if table.num_rows >= (nearest.limit or 0) or count >= len(vectors.windows):
            break
        count *= 8
    similarities = projection.similarity(table["distance"].to_numpy())
    if exact:
        similarities = _exact_similarities(table, rows, archived, run, similarities)
    order = np.argsort(-similarities, kind="stable")[:limit]
    if query.sort not in ("path", "similarity"):  # the nearest, in the order that was asked for
        order = order[_order(snapshot, table.take(order), -similarities[order], query)]
    table, similarities = table.take(order), similarities[order]
    return replace(_found(table, as_told(snapshot, archived.known)), similarities=tuple(similarities.tolist()))


def _order(snapshot: Snapshot, table: Any, distances: np.ndarray, query: SegmentQuery) -> np.ndarray:
    """The places of rows in the order of a query."""
    arrow, connection = import_extra("pyarrow", EXTRA), snapshot.connection()
    columns = table.drop_columns("distance").append_column("distance", arrow.array(distances))
    connection.register("nearest", columns.append_column("place", arrow.array(range(table.num_rows))))
    places: np.ndarray = connection.sql(f"FROM nearest ORDER BY {query.order}").to_arrow_table()["place"].to_numpy()
    return places


def _exact_similarities(
    table: Any, rows: np.ndarray, archived: ArchivedModel, run: Run, similarities: np.ndarray
) -> np.ndarray:
    """Those of the nearest window of each segment in the whole space; as they were where it cannot be read again."""
    paths, starts, ends = (table[name].to_pylist() for name in ("path", "hit_start_s", "hit_end_s"))
    known = similarities.copy()
    for place, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
        with contextlib.suppress(AudioclassError, OSError):
            row = _prepared_window(Path(path), start, end, archived.model)
            known[place] = np.exp(-((rows - row) ** 2).sum(axis=1).min())
        run.progress("recordings", place + 1, len(paths))
    return known


def _prepared_window(path: Path, start: float, end: float, model: Model) -> np.ndarray:
    """A window of a recording, read with what lies around it, as the kernels compare it."""
    recipe = model.recipe
    hop = recipe.windows.hop / recipe.framing.frame_rate
    before = hop * min(int(start / hop + 1e-6), AROUND)
    samples, sample_rate, _ = read_stretch(regular(path), start - before, end + AROUND * hop)
    stretch = BytesIO()
    soundfile.write(stretch, samples, sample_rate, format="WAV", subtype="FLOAT")
    stretch.seek(0)
    blocks = read_blocks(stretch, recipe.framing.sample_rate, trim=recipe.trim)
    features = Features.joined(extract_features(blocks, recipe), recipe.columns, recipe.groups)
    if not len(features.X):
        raise AudioFileError(f"{path}: no window of the model fits into it")
    nearest = min(range(len(features.X)), key=lambda place: abs(features.segments[place].start - before))
    return np.asarray(model.prepared(features.X[nearest : nearest + 1])[0, 0])


def _prepared(example: Example, archived: ArchivedModel) -> np.ndarray:
    """The windows of an example as the kernels compare them: those with their middle in it, else the nearest."""
    rows, middles = _windows(example, archived.model)
    if not rows:
        raise UsageError(f"{example.path}: no window of the model fits into it")
    at = np.array(middles)
    inside = np.flatnonzero((at >= example.start) & (at < example.end))
    if not len(inside):
        last = example.end if np.isfinite(example.end) else example.start
        inside = np.array([int(np.abs(at - (example.start + last) / 2).argmin())])
    picked = inside[:: -(-len(inside) // MOST_QUERIES)]
    return np.asarray(archived.model.prepared(np.stack([rows[place] for place in picked]))[:, 0])


def _windows(example: Example, model: Model) -> tuple[list[np.ndarray], list[float]]:
    """Features of the windows of an example and one on either side of it, with the middle of each."""
    recipe = model.recipe
    rows: list[np.ndarray] = []
    middles: list[float] = []
    with open_audio(regular(example.path), strict=False) as audio:
        for features in extract_features(cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim), recipe):
            near = [place for place, one in enumerate(features.segments) if one.end > example.start - recipe.window]
            rows += [features.X[place] for place in near]
            middles += [(features.segments[place].start + features.segments[place].end) / 2 for place in near]
            if middles and middles[-1] > example.end + recipe.window:
                break
    return rows, middles


def _hits_table(hits: Hits) -> Any:
    arrow = import_extra("pyarrow", EXTRA)
    contents = np.char.decode(hits.windows["content"], "ascii").tolist()
    times = {name: np.ascontiguousarray(hits.windows[name]) for name in ("start_s", "end_s")}
    return arrow.table({"content": contents, **times, "distance": hits.distances})


def _found(table: Any, model: KnownModel) -> FoundSegments:
    columns = {name: table[name].to_pylist() for name in ("path", "start_s", "end_s", "label", "sample_rate")}
    rows = zip(columns["start_s"], columns["end_s"], columns["label"], strict=True)
    segments = tuple(Segment(start, end, label) for start, end, label in rows)
    P = np.array(table["posteriors"].to_pylist(), np.float64).reshape(len(segments), len(model.labels))
    novelty = table["novelty"].to_numpy().astype(np.float64) if table["novelty"].null_count == 0 and segments else None
    result = Result(
        tuple(columns["path"]),
        segments,
        P,
        model.labels,
        tuple(model.taxonomy.path(label) for label in model.labels),
        {path: rate for path, rate in zip(columns["path"], columns["sample_rate"], strict=True) if rate},
        novelty=novelty,
        independent=model.independent,
    )
    return FoundSegments(result, tuple(table["local_time"].to_pylist()))
