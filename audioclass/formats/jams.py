"""JAMS, the JSON annotations of music information retrieval: one annotation for each recording."""

from __future__ import annotations

import json
from typing import IO, Any, ClassVar

from audioclass import __version__
from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.json import parse_json
from audioclass.formats.rows import ResultRow, Track, label_names, tracks_of
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.text_files import span_of, time_of

SCHEMA = "0.3.4"
DIGITS = 6


@component
class Jams:
    """Segments as tags with the probability as confidence; the sandbox of each holds its file and all posteriors."""

    name: ClassVar[str] = "jams"
    suffix: ClassVar[str] = ".jams"
    carries_probabilities: ClassVar[bool] = True
    names_recordings: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """One document in the namespace `tag_open`, whose values are free texts."""
        tracks = tracks_of(result)
        metadata = {
            "title": tracks[0].file if len(tracks) == 1 else "",
            "artist": "",
            "release": "",
            "duration": max((_duration(track) for track in tracks), default=0.0),
            "identifiers": {},
            "jams_version": SCHEMA,
        }
        annotations = [_annotation(track, label_names(result)) for track in tracks]
        document = {"annotations": annotations, "file_metadata": metadata, "sandbox": {}}
        json.dump(document, stream, ensure_ascii=False, allow_nan=False, indent=1)

    def read(self, stream: IO[str]) -> Annotations:
        """The observations whose value is a text, of the file in the sandbox of their annotation where one is named."""
        document = parse_json("line 1", stream.read())
        recordings: dict[str, list[Segment]] = {}
        left_out: list[str] = []
        for number, annotation in enumerate(_list(document, "annotations", "the document"), start=1):
            where = f"annotation {number}"
            observations = [_segment(where, one) for one in _list(annotation, "data", where)]
            segments = [segment for segment in observations if segment is not None]
            if len(segments) < len(observations):
                left_out.append(f"{where}: {len(observations) - len(segments)} values that are no text")
            sandbox = annotation.get("sandbox")
            file = sandbox.get("file") if isinstance(sandbox, dict) else ""
            recordings.setdefault(str(file or ""), []).extend(segments)
        return Annotations(recordings, tuple(left_out))


def _annotation(track: Track, labels: list[str]) -> dict[str, Any]:
    posteriors = [[round(p, DIGITS) for p in row.posteriors] for row in track.rows]
    sandbox: dict[str, Any] = {"file": track.file, "labels": labels, "posteriors": posteriors}
    if any(row.novelty is not None for row in track.rows):
        sandbox["novelty"] = [None if row.novelty is None else round(row.novelty, DIGITS) for row in track.rows]
    if any(row.set is not None for row in track.rows):
        sandbox["sets"] = [list(row.set or ()) for row in track.rows]
    return {
        "annotation_metadata": _metadata(),
        "namespace": "tag_open",
        "data": [_observation(row) for row in track.rows],
        "sandbox": sandbox,
        "time": 0,
        "duration": _duration(track),
    }


def _metadata() -> dict[str, Any]:
    return {
        "curator": {"name": "", "email": ""},
        "annotator": {},
        "version": "",
        "corpus": "",
        "annotation_tools": f"audioclass {__version__}",
        "annotation_rules": "",
        "validation": "",
        "data_source": "program",
    }


def _observation(row: ResultRow) -> dict[str, Any]:
    start, end = round(row.start, DIGITS), round(row.end, DIGITS)
    confidence = None if row.probability is None else round(row.probability, DIGITS)
    return {"time": start, "duration": round(end - start, DIGITS), "value": row.label, "confidence": confidence}


def _list(table: Any, key: str, where: str) -> list[Any]:
    values = table.get(key) if isinstance(table, dict) else None
    if not isinstance(values, list):
        raise CorpusError(f"no list `{key}` in {where}")
    return values


def _segment(where: str, observation: Any) -> Segment | None:
    if not isinstance(observation, dict):
        raise CorpusError(f"{where}: an observation must be an object")
    if not isinstance(observation.get("value"), str):
        return None
    start, duration = (str(observation.get(key)) for key in ("time", "duration"))
    end = time_of(where, "start", start) + time_of(where, "duration", duration)
    return Segment(*span_of(where, start, str(round(end, DIGITS))), observation["value"])


def _duration(track: Track) -> float:
    return round(max(row.end for row in track.rows), DIGITS)


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """JAMS."""
    return [Jams]
