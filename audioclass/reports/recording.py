"""The page of one classified recording: waveform, posteriors over time and segments, under a player's cursor."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from audioclass.data import Posteriors, Result
from audioclass.display import encodable
from audioclass.formats.rows import ResultRow, label_names, rows_of
from audioclass.markup import element, embedded_json, escape, page
from audioclass.reports.appearance import STYLE, asset, cell, row_head, table
from audioclass.reports.curves import Curves, curves_of
from audioclass.reports.envelope import Envelope

KEYS = (
    ("space", "play or pause"),
    ("← →", "skip ±5 s, with shift ±1 s"),
    ("↑ ↓", "segment before or after"),
    ("+ −", "zoom"),
    ("0", "fit the recording"),
)


def recording_page(
    result: Result,
    windows: Posteriors,
    envelope: Envelope | None = None,
    *,
    audio: str | None = None,
    title: str = "",
) -> str:
    """One HTML file that needs no network; `audio` is what `audio_address` gives, None for a recording that is gone.

    `result` holds the segments of one recording, `windows` its posteriors over time. What is drawn is thinned: the
    page of an hour takes well below 5 MB, whatever the number of windows and labels.
    """
    if len(set(result.files)) > 1:
        raise ValueError(f"segments of {len(set(result.files))} recordings, a page shows one")
    title = encodable(title or next(iter(result.files), "recording"))
    rows = list(rows_of(result))
    data = _data(rows, result, curves_of(windows), envelope)
    body = (
        _header(title, data["duration"], len(rows)) + _stage(audio, result) + _summary(rows, data["duration"]) + _help()
    )
    body += element("script", embedded_json(data), type="application/json", id="recording")
    return page(title, STYLE + asset("recording.css"), body, asset("recording.js"))


def _data(rows: Sequence[ResultRow], result: Result, curves: Curves, envelope: Envelope | None) -> dict[str, Any]:
    """Everything that the script draws, as plain values; arrays are base64."""
    drawn = [encodable(label) for label in curves.labels]
    names = list(dict.fromkeys([*drawn, *label_names(result), *(row.label for row in rows)]))
    ends = [row.end for row in rows] + [float(curves.edges[-1])] + ([envelope.seconds] if envelope else [])
    return {
        "duration": max(ends),
        "lanes": len(names) if result.independent else None,
        "names": names,
        "segments": [_segment(row, names) for row in rows],
        "curves": {
            "names": [names.index(label) for label in drawn],
            "edges": _encoded(curves.edges.astype("<f4")),
            "values": _encoded(np.round(255 * curves.values).astype(np.uint8)),
        },
        "wave": _wave(envelope) if envelope else None,
    }


def _segment(row: ResultRow, names: Sequence[str]) -> list[Any]:
    """Start, end, name, probability, the runner-up and its probability; None where there is none."""
    runner_up = None if row.runner_up is None else names.index(row.runner_up)
    best = [round(row.start, 3), round(row.end, 3), names.index(row.label), _rounded(row.probability)]
    return [*best, runner_up, _rounded(row.runner_up_probability)]


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else round(probability, 4)


def _wave(envelope: Envelope) -> dict[str, Any]:
    low, high = envelope.bins()
    peak = max(np.abs(low).max(initial=0), np.abs(high).max(initial=0)) or 1.0
    step = envelope.samples_per_bin / envelope.sample_rate
    coded = [_encoded(np.round(127 * side / peak).astype(np.int8)) for side in (low, high)]
    return {"low": coded[0], "high": coded[1], "step": step}


def _encoded(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _header(title: str, duration: float, n_segments: int) -> str:
    about = f"{clock(duration)} · {n_segments} segment{'' if n_segments == 1 else 's'}"
    return element("header", element("h1", escape(title)) + element("p", about, id="about"))


def _stage(audio: str | None, result: Result) -> str:
    """The player and everything that the script draws into."""
    player = element("audio", controls="", preload="metadata", id="player", src=audio) if audio else ""
    buttons = [("zoom-in", "+", "zoom in"), ("zoom-out", "−", "zoom out"), ("fit", "fit", "fit the recording")]
    drawn = "".join(element("button", text, id=key, title=hint, type="button") for key, text, hint in buttons)
    tools = element("div", drawn + element("output", "", id="now"), class_="tools")
    canvases = [("wave", "waveform"), ("posteriors", "posteriors over time"), ("strip", "segments")]
    layers = "".join(element("canvas", "", id=key, aria_label=description, role="img") for key, description in canvases)
    layers += element("div", "", id="segments") + element("canvas", "", id="axis") + element("div", "", id="cursor")
    plots = element("div", layers, id="plots", tabindex="0", role="group", aria_label="timeline")
    legend = element("ul", "", id="legend")
    columns = ["start", "end", "label", "probability", *([] if result.independent else ["runner-up"])]
    listed = table(columns, [], id="list")
    return element("main", player + tools + plots + legend + listed + element("p", "", id="more"))


def _summary(rows: Sequence[ResultRow], duration: float) -> str:
    """The total time of each label, the longest first."""
    seconds: dict[str, float] = {}
    for row in rows:
        seconds[row.label] = seconds.get(row.label, 0.0) + row.end - row.start
    ordered = sorted(seconds.items(), key=lambda pair: -pair[1])
    shares = ((label, clock(time), f"{100 * time / (duration or 1):.1f} %") for label, time in ordered)
    lines = [[row_head(label), cell(time), cell(share)] for label, time, share in shares]
    return table(["label", "total", "share"], lines, id="summary")


def _help() -> str:
    keys = " ".join(f"{element('kbd', key)} {escape(meaning)}" for key, meaning in KEYS)
    return element("footer", element("p", keys))


def clock(seconds: float) -> str:
    """Hours where there are some, minutes, seconds and tenths: `1:02:03.4`."""
    tenths = round(seconds * 10)
    hours, minutes = divmod(tenths // 600, 60)
    lead = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return f"{lead}:{tenths % 600 // 10:02d}.{tenths % 10}"
