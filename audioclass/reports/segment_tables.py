"""Segments of many recordings in a table, each to be heard: one player serves all rows and loads what is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from audioclass.data import Segment
from audioclass.display import printable
from audioclass.evaluation.formatting import shown
from audioclass.markup import element, embedded_json, escape, page
from audioclass.reports.appearance import STYLE, asset, cell, table
from audioclass.reports.names import name_head, printable_facts, shortened
from audioclass.reports.players import AudioLink, player
from audioclass.reports.recording import clock

MOST_ROWS = 5000
KEYS = (("enter", "play or pause"), ("↑ ↓", "segment before or after"), ("tab", "to the player and back"))


@dataclass(frozen=True)
class ListedSegment:
    """A segment, whose label is in `segment`, and what is known of it; `clock_time` is that of its start."""

    file: str
    segment: Segment
    probability: float | None = None
    runner_up: str | None = None
    runner_up_probability: float | None = None
    clock_time: datetime | None = None
    similarity: float | None = None


def found_page(
    title: str,
    rows: Sequence[ListedSegment],
    *,
    notes: Mapping[str, str] | None = None,
    audio: AudioLink | None = None,
    most: int = MOST_ROWS,
) -> str:
    """The segments that a search gives, in its order: one HTML file that needs no network.

    `notes` say what was searched and how; `audio` gives the address of a recording for the player, None where there is
    none. Of more than `most` segments the first are listed, and the page says so.
    """
    listed = rows[:most]
    addresses = addresses_of(listed, audio)
    body = [
        element("h1", escape(printable(title))),
        element("p", escape(_about(rows, len(listed))), class_="about"),
        printable_facts(notes or {}),
        segment_table(listed, addresses, is_focused=True),
        listening_bar(listed, addresses),
    ]
    return page(printable(title), STYLE + asset("archive.css"), "\n".join(body), asset("listen.js"))


def addresses_of(rows: Sequence[ListedSegment], audio: AudioLink | None) -> dict[str, str]:
    """The addresses of those recordings that have one, asked for once each."""
    files = dict.fromkeys(row.file for row in rows) if audio else {}
    return {file: address for file in files if audio and (address := audio(file))}


def segment_table(rows: Sequence[ListedSegment], addresses: Mapping[str, str], *, is_focused: bool = False) -> str:
    """Rows in their order, with a button where a recording has an address; what no row has is no column.

    A page with this table has one `listening_bar` of the same addresses and the script `listen.js`. `is_focused` gives
    the keyboard to the first button.
    """
    if not rows:
        return element("p", "There are none.", class_="note")
    numbers = {file: number for number, file in enumerate(addresses)}
    first = next((place for place, row in enumerate(rows) if row.file in numbers), -1) if is_focused else -1
    columns = {
        "listen": [_button(row, numbers.get(row.file), is_first=place == first) for place, row in enumerate(rows)],
        "label": [cell(shortened(row.segment.label), class_="name") for row in rows],
        "probability": [cell(shown(row.probability)) for row in rows],
        "runner-up": [cell(_runner_up(row), class_="name") for row in rows],
        "similarity": [cell(shown(row.similarity)) for row in rows],
        "clock time": [cell(_moment(row.clock_time)) for row in rows],
        "recording": [name_head(row.file) for row in rows],
        "start": [cell(clock(row.segment.start)) for row in rows],
        "end": [cell(clock(row.segment.end)) for row in rows],
    }
    known = {
        "listen": bool(numbers),
        "clock time": any(row.clock_time for row in rows),
        "runner-up": any(row.runner_up is not None for row in rows),
        "similarity": any(row.similarity is not None for row in rows),
    }
    present = {name: cells for name, cells in columns.items() if known.get(name, True)}
    return table(list(present), [list(row) for row in zip(*present.values(), strict=True)], class_="segments")


def listening_bar(rows: Sequence[ListedSegment], addresses: Mapping[str, str]) -> str:
    """The player at the foot of the window, set to the first segment that can be heard; empty where none can."""
    first = next((row for row in rows if row.file in addresses), None)
    if first is None:
        return ""
    audio = player(addresses[first.file], first.segment)
    text = element("output", escape(_spoken(first)), id="listening")
    keys = " ".join(f"{element('kbd', key)} {meaning}" for key, meaning in KEYS)
    data = element("script", embedded_json(list(addresses.values())), type="application/json", id="addresses")
    return element("footer", element("p", keys)) + element("aside", audio + text, id="listen") + data


def _about(rows: Sequence[ListedSegment], n_listed: int) -> str:
    n_files = len({row.file for row in rows})
    counts = f"{len(rows)} segment{'' if len(rows) == 1 else 's'} of {n_files} recording{'' if n_files == 1 else 's'}"
    return counts if n_listed == len(rows) else f"{counts}; the first {n_listed} are listed"


def _button(row: ListedSegment, number: int | None, *, is_first: bool) -> str:
    if number is None:
        return cell("–", class_="listen")
    words, focus = _spoken(row), {"autofocus": ""} if is_first else {}
    stretch = {"data_start": f"{row.segment.start:.3f}", "data_end": f"{row.segment.end:.3f}"}
    button = element(
        "button", "▶", type="button", title=words, aria_label=f"play {words}", data_audio=number, **stretch, **focus
    )
    return element("td", button, class_="listen")


def _spoken(row: ListedSegment) -> str:
    times = f"{clock(row.segment.start)} to {clock(row.segment.end)}"
    return f"{shortened(row.segment.label)} · {times} · {shortened(row.file)}"


def _moment(time: datetime | None) -> str:
    return time.isoformat(sep=" ", timespec="seconds") if time else "–"


def _runner_up(row: ListedSegment) -> str:
    if row.runner_up is None:
        return "–"
    name, probability = shortened(row.runner_up), row.runner_up_probability
    return name if probability is None else f"{name} {shown(probability)}"
