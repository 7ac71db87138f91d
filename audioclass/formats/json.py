"""JSON, as one document or as one line a segment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any, ClassVar

from audioclass.contracts import Export
from audioclass.data import Result
from audioclass.formats.rows import Row, label_names, rows_of
from audioclass.formats.texts import encodable
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component

DIGITS = 6


@component
class Json:
    """One document: the labels, their paths in the taxonomy, and the segments with all posteriors."""

    name: ClassVar[str] = "json"
    suffix: ClassVar[str] = ".json"
    carries_probabilities: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """Keys `labels`, `paths` and `segments`; a segment a line, so that differences can be read."""
        labels = label_names(result)
        stream.write(f'{{"labels": {_text(labels)},\n"paths": {_text(_paths(result))},\n"segments": [')
        for number, row in enumerate(rows_of(result)):
            stream.write((",\n" if number else "\n") + _text(plain_row(row, labels)))
        stream.write("\n]}\n")


@component
class JsonLines:
    """One JSON object a line for each segment, for pipes and logs."""

    name: ClassVar[str] = "json_lines"
    suffix: ClassVar[str] = ".jsonl"
    carries_probabilities: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """Keys file, start, end, label, posterior, path and posteriors."""
        labels = label_names(result)
        for row in rows_of(result):
            stream.write(_text(plain_row(row, labels)) + "\n")


def plain_row(row: Row, labels: Sequence[str]) -> dict[str, Any]:
    """A row as plain values; `posterior` is None for a label outside the taxonomy."""
    posterior = None if row.posterior is None else round(row.posterior, DIGITS)
    posteriors = {label: round(p, DIGITS) for label, p in zip(labels, row.posteriors, strict=True)}
    said = {"file": row.file, "start": round(row.start, DIGITS), "end": round(row.end, DIGITS), "label": row.label}
    return said | {"posterior": posterior, "path": list(row.path), "posteriors": posteriors}


def _paths(result: Result) -> dict[str, list[str]]:
    names = zip(label_names(result), result.paths, strict=True)
    return {label: [encodable(name) for name in path] for label, path in names}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@hookimpl
def register_exports() -> list[type[Export]]:
    """One document, or one object a line."""
    return [Json, JsonLines]
