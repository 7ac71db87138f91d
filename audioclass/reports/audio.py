"""Where a page finds its recording: a path from the page to it, or the recording itself where it is small."""

from __future__ import annotations

import base64
from pathlib import Path

from audioclass.reports.players import relative_link

SMALL = 1_000_000  # bytes
PLAYED = {  # by every browser of today
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".m4a": "audio/mp4",
    ".mp4": "audio/mp4",
    ".webm": "audio/webm",
}


def audio_address(recording: Path, page: Path, *, embed_up_to: int = SMALL) -> str:
    """What the page's player plays; a recording of at most `embed_up_to` bytes is part of the page."""
    kind = PLAYED.get(recording.suffix.lower())
    if kind and recording.stat().st_size <= embed_up_to:
        return f"data:{kind};base64,{base64.b64encode(recording.read_bytes()).decode()}"
    return relative_link(recording, page)
