"""JSON, as one document or as one line a segment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import IO, Any, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.display import encodable
from audioclass.errors import CorpusError
from audioclass.formats.rows import COLUMNS, ResultRow, label_names, rows_of
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.text_files import numbered_lines, shown, span_of

DIGITS = 6


@component
class Json:
    """One document: the labels, their paths in the taxonomy, and the segments with all posteriors."""

    name: ClassVar[str] = "json"
    suffix: ClassVar[str] = ".json"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    carries_probabilities: ClassVar[bool] = True
    names_recordings: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """Keys `labels`, `paths` and `segments`; a segment a line, so that differences can be read."""
        labels = label_names(result)
        stream.write(f'{{"labels": {_text(labels)},\n"paths": {_text(_paths(result))},\n"segments": [')
        for number, row in enumerate(rows_of(result)):
            stream.write((",\n" if number else "\n") + _text(plain_row(row, labels)))
        stream.write("\n]}\n")

    def recognises(self, first_line: str) -> bool:
        """By the key that it begins with."""
        return first_line.lstrip().startswith('{"labels":')

    def read(self, stream: IO[str]) -> Annotations:
        """The segments of every `file`."""
        document = parse_json("line 1", stream.read())
        rows = document.get("segments") if isinstance(document, dict) else None
        if not isinstance(rows, list):
            raise CorpusError("no list `segments` in the document")
        return _annotations((f"segment {number}", row) for number, row in enumerate(rows, start=1))


@component
class JsonLines:
    """One JSON object a line for each segment, for pipes and logs."""

    name: ClassVar[str] = "json_lines"
    suffix: ClassVar[str] = ".jsonl"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    carries_probabilities: ClassVar[bool] = True
    names_recordings: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """Keys as the columns of a table (file, start, end, label, probability…), path and posteriors."""
        labels = label_names(result)
        for row in rows_of(result):
            stream.write(_text(plain_row(row, labels)) + "\n")

    def recognises(self, first_line: str) -> bool:
        """By an object with times and a label."""
        try:
            return bool(_annotations([("line 1", parse_json("line 1", first_line))]))
        except CorpusError:
            return False

    def read(self, stream: IO[str]) -> Annotations:
        """The segments of every `file`."""
        lines = ((where, line) for where, line in numbered_lines(stream) if line.strip())
        return _annotations((where, parse_json(where, line)) for where, line in lines)


def plain_row(row: ResultRow, labels: Sequence[str]) -> dict[str, Any]:
    """A row as plain values; `probability` is None for a label outside the taxonomy, `cut` where nothing is damaged.

    `novelty` and `set` are there where they are known.
    """
    plain = {name: _rounded(getattr(row, name)) for name in COLUMNS}
    posteriors = {label: round(p, DIGITS) for label, p in zip(labels, row.posteriors, strict=True)}
    known = {name: _rounded(getattr(row, name)) for name in ("novelty", "set") if getattr(row, name) is not None}
    return plain | {"path": list(row.path), "posteriors": posteriors, "cut": _rounded(row.cut)} | known


def parse_json(where: str, text: str) -> Any:
    """The value that a text holds; a CorpusError says in which of its lines it is wrong, where it has several."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}" if error.lineno > 1 else where
        raise CorpusError(f"{place}: no JSON: {error.msg} at character {error.colno}") from error
    except RecursionError as error:
        raise CorpusError(f"{where}: no JSON that can be read: too many levels") from error


def _rounded(value: Any) -> Any:
    return round(value, DIGITS) if isinstance(value, float) else value


def _annotations(rows: Iterable[tuple[str, Any]]) -> Annotations:
    recordings: dict[str, list[Segment]] = {}
    for where, row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("label"), str):
            raise CorpusError(f"{where}: {shown(str(row))} must be an object with start, end and label")
        segment = Segment(*span_of(where, str(row.get("start")), str(row.get("end"))), row["label"])
        recordings.setdefault(str(row.get("file") or ""), []).append(segment)
    return Annotations(recordings)


def _paths(result: Result) -> dict[str, list[str]]:
    names = zip(label_names(result), result.paths, strict=True)
    return {label: [encodable(name) for name in path] for label, path in names}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """One document, or one object a line."""
    return [Json, JsonLines]
