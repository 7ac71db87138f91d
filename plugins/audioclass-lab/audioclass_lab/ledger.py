"""What was computed, by its point, so that an experiment that was killed goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from audioclass.storage import Journal

Plain = Mapping[str, Any]


class Ledger:
    """Results by their point. A line is written when its point is done; one that was cut short is computed again.

    Without a path nothing is kept beyond the run.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._journal = None if path is None else Journal(path)
        lines = [] if self._journal is None else self._journal.entries()
        self._known: dict[str, Plain] = {
            _key(line["point"]): line["result"]
            for line in lines
            if "point" in line and isinstance(line.get("result"), dict)
        }

    def __len__(self) -> int:
        return len(self._known)

    def once(self, point: Plain, work: Callable[[], Plain]) -> Plain:
        """The result of a point, computed unless it is known."""
        key = _key(point)
        if key not in self._known:
            result = dict(work())
            if self._journal is not None:
                self._journal.append({"point": point, "result": result})
            self._known[key] = result
        return self._known[key]


def _key(point: Plain) -> str:
    return json.dumps(point, sort_keys=True, ensure_ascii=False)
