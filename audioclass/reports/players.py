"""Mistakes that can be heard: a table of them with a player for each, set to the stretch of time in question."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from audioclass.data import Segment
from audioclass.evaluation.formatting import shown
from audioclass.evaluation.mistakes import Mistake
from audioclass.markup import element
from audioclass.reports.appearance import cell, row_head, table

AudioLink = Callable[[str], str | None]


def relative_link(file: Path, page: Path) -> str:
    """The address of a file as a page in another folder links to it, whatever characters its name holds."""
    return quote(os.fsencode(Path(os.path.relpath(file, page.parent)).as_posix()))


def mistakes_table(mistakes: Sequence[Mistake], audio: AudioLink | None = None) -> str:
    """The mistakes in their order; `audio` gives the address (or data URI) of a file, None where there is none."""
    if not mistakes:
        return element("p", "There are none.", class_="note")
    head = ["recording", "from", "to", "reference", "posterior", "estimated", "posterior", "listen"]
    return table(head, [_row(mistake, audio) for mistake in mistakes], class_="mistakes")


def player(address: str, segment: Segment | None) -> str:
    """An audio element that plays a stretch of a recording; nothing is loaded before it is asked for."""
    stretch = f"#t={segment.start:.3f},{segment.end:.3f}" if segment else ""
    return element("audio", controls="", preload="none", src=address + stretch)


def _row(mistake: Mistake, audio: AudioLink | None) -> list[str]:
    segment, address = mistake.segment, audio(mistake.file) if audio and mistake.file else None
    times = (f"{segment.start:.2f} s", f"{segment.end:.2f} s") if segment else ("–", "–")
    return [
        row_head(mistake.file or "–"),
        *map(cell, times),
        cell(mistake.reference, class_="name"),
        cell(shown(mistake.reference_posterior)),
        cell(mistake.estimated, class_="name"),
        cell(shown(mistake.posterior)),
        element("td", player(address, segment) if address else "–"),
    ]
