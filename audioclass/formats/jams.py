"""JAMS, the JSON annotations of music information retrieval: one annotation for each recording."""

from __future__ import annotations

import json
from typing import IO, Any, ClassVar

from audioclass import __version__
from audioclass.contracts import Export
from audioclass.data import Result
from audioclass.formats.rows import Row, Track, label_names, tracks_of
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component

SCHEMA = "0.3.4"
DIGITS = 6


@component
class Jams:
    """Segments as tags with the posterior as confidence; the sandbox of each holds its file and all posteriors."""

    name: ClassVar[str] = "jams"
    suffix: ClassVar[str] = ".jams"
    carries_probabilities: ClassVar[bool] = True

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


def _annotation(track: Track, labels: list[str]) -> dict[str, Any]:
    posteriors = [[round(p, DIGITS) for p in row.posteriors] for row in track.rows]
    return {
        "annotation_metadata": _metadata(),
        "namespace": "tag_open",
        "data": [_observation(row) for row in track.rows],
        "sandbox": {"file": track.file, "labels": labels, "posteriors": posteriors},
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


def _observation(row: Row) -> dict[str, Any]:
    start, end = round(row.start, DIGITS), round(row.end, DIGITS)
    confidence = None if row.posterior is None else round(row.posterior, DIGITS)
    return {"time": start, "duration": round(end - start, DIGITS), "value": row.label, "confidence": confidence}


def _duration(track: Track) -> float:
    return round(max(row.end for row in track.rows), DIGITS)


@hookimpl
def register_exports() -> list[type[Export]]:
    """JAMS."""
    return [Jams]
