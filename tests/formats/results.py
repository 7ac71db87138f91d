"""Results that a format must carry: names and labels of every kind, windows that overlap, groups and the unknown."""

import io

import numpy as np

from audioclass.data import Result, Segment

LABELS = ("bruit, de fond", 'dit "fort"', "音楽 é", "R&B <live>", "")
TIMES = ((0.0, 1.25), (1.25, 1.257), (1.257, 3601.757), (3601.757, 3605.001), (3700.123, 3701.456))


def result_of(labels, times=TIMES, files="enregistrement é.wav"):
    """Segments with these labels, each with posteriors over the distinct ones."""
    files = (files,) * len(labels) if isinstance(files, str) else tuple(files)
    known = tuple(dict.fromkeys(labels))
    segments = tuple(Segment(*time, label) for time, label in zip(times, labels, strict=False))
    P = np.random.default_rng(0).dirichlet(np.ones(len(known)), len(labels))
    return Result(files, segments, P, known, tuple(("son", label) for label in known))


ONE = result_of(LABELS[:4])
TWO = result_of(LABELS[:4], [*TIMES[:2], *TIMES[:2]], ["a b/é.wav"] * 2 + ["ü.wav"] * 2)
OVERLAPPING = result_of(["a", "b", "a", "c"], [(0, 2), (1, 3), (2, 4), (3, 5)])
BACKED_OFF = Result(
    ("a.wav",) * 2,
    (Segment(0, 1, "animal"), Segment(1, 2, "unknown")),
    np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]),
    ("cat", "dog", "engine"),
    (("animal", "cat"), ("animal", "dog"), ("engine",)),
)


def written(format_, result):
    """What a format writes, as text or bytes."""
    stream = io.BytesIO() if getattr(format_, "binary", False) else io.StringIO(newline="")
    format_.write(result, stream)
    return stream.getvalue()


def on_disk(format_, result, folder):
    """The same as a file."""
    text = written(format_, result)
    path = folder / f"labels{format_.suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def expected(result):
    """(start, end, label) of each row, times to the millisecond."""
    return [(round(s.start, 3), round(s.end, 3), s.label) for s in result.segments]


def to_the_millisecond(rows):
    """(start, end, label) with times rounded as `expected` gives them."""
    return [(round(float(start), 3), round(float(end), 3), label) for start, end, label in rows]


def read(format_, text):
    """What a text says to the format, as annotations."""
    return format_.read(io.StringIO(text, newline=""))


def read_back(format_, text):
    """The segments of the one recording that a text speaks of, as (start, end, label)."""
    recordings = read(format_, text).recordings
    assert len(recordings) <= 1
    return [(s.start, s.end, s.label) for segments in recordings.values() for s in segments]
