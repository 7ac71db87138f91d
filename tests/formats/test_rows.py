import re

import numpy as np
import pytest
from formats.results import BACKED_OFF, OVERLAPPING, TWO, written
from runs import BUILTINS

from audioclass.data import Result, Segment
from audioclass.formats.rows import captions_of, label_names, rows_of, tiers_of, tracks_of


def test_a_group_has_the_probability_of_its_leaves_and_the_unknown_has_none():
    group, unknown = rows_of(BACKED_OFF)
    assert (group.probability, group.path) == (0.75, ("animal",))
    assert (unknown.probability, unknown.path) == (None, ())
    assert group.posteriors == (0.5, 0.25, 0.25)


def test_the_runner_up_is_the_likeliest_label_outside_the_segments_own():
    group, unknown = rows_of(BACKED_OFF)
    assert (group.runner_up, group.runner_up_probability) == ("engine", 0.25)
    assert (unknown.runner_up, unknown.runner_up_probability) == ("engine", 0.5)
    (alone,) = rows_of(Result(("a.wav",), (Segment(0, 1, "x"),), np.ones((1, 1)), ("x",)))
    assert (alone.runner_up, alone.runner_up_probability) == (None, None)


def test_recordings_come_in_order_of_appearance_and_rows_in_order_of_time():
    segments = (Segment(1, 2, "x"), Segment(0, 1, "x"), Segment(0, 3, "x"))
    tracks = tracks_of(Result(("b", "b", "a"), segments, np.ones((3, 1)), ("x",)))
    assert [(track.file, [row.start for row in track.rows]) for track in tracks] == [("b", [0, 1]), ("a", [0])]


def test_windows_that_overlap_take_turns_on_tiers():
    tiers = [(tier.name, [(row.start, row.end) for row in tier.rows]) for tier in tiers_of(OVERLAPPING)]
    assert tiers == [("labels", [(0, 2), (2, 4)]), ("labels 2", [(1, 3), (3, 5)])]


def test_of_several_recordings_texts_and_tiers_are_called_by_their_file():
    assert [tier.name for tier in tiers_of(TWO)] == ["a b/é.wav", "ü.wav"]
    assert captions_of(TWO)[0][1] == "a b/é.wav: bruit, de fond"


@pytest.mark.parametrize("text", ["caf\udce9.wav"])
def test_names_that_are_no_text_are_shown_escaped(text):
    result = Result((text,), (Segment(0, 1, text),), np.ones((1, 1)), (text,))
    (row,) = rows_of(result)
    assert row.file == row.label == label_names(result)[0] == "caf\\xe9.wav"
    assert row.probability == 1


TAXONOMIC = Result(
    ("a.wav",) * 3,
    (Segment(0, 1, "cat"), Segment(1, 2, "animal"), Segment(2, 3, "unknown")),
    np.array([[0.421739, 0.317, 0.261261], [0.312345, 0.387654, 0.300001], [0.341111, 0.325556, 0.333333]]),
    ("cat", "dog", "engine"),
    (("animal", "cat"), ("animal", "dog"), ("engine",)),
)
FORMATS = {entry.name: BUILTINS.make("format", entry.name) for entry in BUILTINS.entries("format")}
CARRYING = sorted(name for name, format_ in FORMATS.items() if format_.carries_probabilities)


@pytest.mark.parametrize("name", CARRYING)
def test_every_format_writes_the_numbers_of_the_rows(name):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    rows = list(rows_of(TAXONOMIC))
    assert [row.probability for row in rows] == [0.421739, pytest.approx(0.699999), None]
    assert [row.runner_up_probability for row in rows] == [0.317, 0.300001, 0.341111]
    numbers = numbers_in(name, written(FORMATS[name], TAXONOMIC))
    assert {0.421739, 0.699999} <= numbers
    if name not in ("jams", "raven", "rttm"):  # which have a place for one probability
        assert {row.runner_up_probability for row in rows} <= numbers
    stated = {p for row in rows for p in (row.probability, row.runner_up_probability, *row.posteriors) if p}
    assert {number for number in numbers if 0 < number < 1} <= {round(p, 6) for p in stated}


def numbers_in(name, text):
    """Every number of six digits that a format writes."""
    if name != "parquet":
        return {float(number) for number in re.findall(r"\b0\.\d{2,}", text)}
    table = parquet_table(text)
    return {round(value, 6) for column in table.columns for value in column.to_pylist() if isinstance(value, float)}


def parquet_table(content):
    from pyarrow import BufferReader, parquet

    return parquet.read_table(BufferReader(content))
