"""What was computed, one JSON line a point, so that an experiment that was killed goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from audioclass.errors import UsageError

Plain = Mapping[str, Any]


class Ledger:
    """Results by their point. A line is written when its point is done; one that was cut short is computed again.

    Without a path nothing is kept beyond the run.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._known = path, {}
        if path is not None:
            self._known = _read(path)

    def __len__(self) -> int:
        return len(self._known)

    def once(self, point: Plain, work: Callable[[], Plain]) -> Plain:
        """The result of a point, computed unless it is known."""
        key = _key(point)
        if key not in self._known:
            result = dict(work())
            self._write({"point": point, "result": result})
            self._known[key] = result
        return self._known[key]

    def _write(self, entry: Plain) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UsageError(f"{self._path}: cannot be written: {error.strerror}") from error


def _read(path: Path) -> dict[str, Plain]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    known = {}
    for line in lines:
        try:
            entry = json.loads(line)
            known[_key(entry["point"])] = dict(entry["result"])
        except (ValueError, KeyError, TypeError):
            continue  # cut short, or not ours
    if lines and not path.read_bytes().endswith(b"\n"):
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n")  # what comes next must not be joined to a line that was cut short
    return known


def _key(point: Plain) -> str:
    return json.dumps(point, sort_keys=True, ensure_ascii=False)
