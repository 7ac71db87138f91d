"""Questions for segments: every option, alone and with others, gives what looking at each segment gives."""

import fnmatch
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache

import numpy as np
import pytest
from made_archives import MadeRecording, MadeSegment, append, make_archive, model_table, occurrences, segment_table
from runs import run

from audioclass.engine import archives
from audioclass.engine.archives import Archive
from audioclass.errors import UsageError
from audioclass.index.query import Near, SegmentQuery, parse_between, parse_moment, parse_near
from audioclass.index.snapshot import Snapshot

HOSTILE = "x'; DROP TABLE segments; --"
PATHS = [["voice", "speech"], ["voice", 'say "hi"'], ["music"], ["a*b[c]?"], [HOSTILE]]
LABELS = tuple(path[-1] for path in PATHS)
CALLED = (*LABELS, "voice", "unknown")  # what segments may be called
GROUPS = {"voice": {"voice", "speech", 'say "hi"'}, "unknown": {"unknown"}} | {label: {label} for label in LABELS}
OLDER = "fedcba987654"
FOLDERS = ["/radio/news", "/radio/it's", "/field/été [1]", "/field/a*b"]
OFFSETS = [None, 0, 60, -330, 840]


def draw_recordings(rng) -> list[MadeRecording]:
    """Twenty paths; some recordings have no clock, some are gone, some are copies of others."""
    recordings = []
    for i in range(20):
        start = datetime(2018, 12, 30, tzinfo=UTC) + timedelta(minutes=int(rng.integers(0, 60 * 24 * 400)))
        has_clock = rng.random() < 0.8
        offset = OFFSETS[int(rng.integers(len(OFFSETS)))] if has_clock else None
        content = f"{i % 16:032x}"  # the last four are copies
        path = f"{FOLDERS[i % 4]}/{i}{'.flac' if i % 3 else '.wav'}"
        recordings.append(MadeRecording(path, content, start if has_clock else None, offset, i in (3, 7, 17)))
    return recordings


def draw_segments(rng) -> list[MadeSegment]:
    """About three hundred segments, one after another in each content."""
    segments = []
    for content in range(16):
        start = 0.0
        for _ in range(int(rng.integers(5, 35))):
            end = start + 0.25 * float(rng.integers(1, 60))
            label = CALLED[int(rng.integers(len(CALLED)))]
            probability = None if label == "unknown" else float(rng.choice([0.1, 0.5, 0.7, 0.9, rng.random()]))
            segments.append(MadeSegment(f"{content:032x}", start, end, label, probability, float(rng.random())))
            start = end + 0.25 * float(rng.integers(0, 12))
    return segments


@dataclass(frozen=True)
class Made:
    archive: Archive
    all: list


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(7)
    recordings, segments = draw_recordings(rng), draw_segments(rng)
    folder = make_archive(tmp_path_factory.mktemp("query") / "archive", recordings, segments, PATHS)
    other = MadeSegment(f"{0:032x}", 0.0, 5.0, "speech", 0.25, 0.5, OLDER)
    append(folder, "models", model_table([["speech"], ["music"]], OLDER, "older", age=3))
    append(folder, "segments", segment_table([other], ["speech", "music"]))
    with pytest.MonkeyPatch.context() as patch:  # the archive stays as it is: it need not be opened for every question
        patch.setattr(archives, "Snapshot", cache(Snapshot))
        yield Made(Archive(str(folder), run()), occurrences(recordings, segments))


# --- the same question, asked of each segment -----------------------------------------------------------------------


def single(value):
    return float(np.float32(value))


def bound(text, is_end=False):
    """A moment that a text names; the end of a day, a month or a year is the start of the next."""
    if len(text) > 10:
        return datetime.fromisoformat(text)
    numbers = [int(part) for part in text.split("-")]
    if not is_end:
        return datetime(*numbers, *[1] * (3 - len(numbers)))
    if len(numbers) == 3:
        return datetime(*numbers) + timedelta(days=1)
    year, month = numbers if len(numbers) == 2 else (numbers[0], 12)
    return datetime(year + (month == 12), month % 12 + 1, 1)


def is_between(one, text):
    if one.local_time is None:
        return False
    at = one.local_time.time()
    minutes = at.hour * 60 + at.minute + at.second / 60 + at.microsecond / 6e7
    first, last = (sum(int(x) * y for x, y in zip(part.split(":"), (60, 1), strict=True)) for part in text.split("-"))
    return first <= minutes < last if first <= last else minutes >= first or minutes < last


def fits_path(path, patterns):
    patterns = [patterns] if isinstance(patterns, str) else patterns
    return any(fnmatch.fnmatchcase(path, form) for pattern in patterns for form in (pattern, f"*/{pattern}"))


def is_near(one, text, everything):
    label, seconds = text.removesuffix("s").rsplit(":", 1)
    mine = one.segment
    return any(
        other.segment.content == mine.content
        and other.segment.label in GROUPS[label]
        and other.segment != mine
        and other.segment.start - mine.end <= float(seconds)
        and mine.start - other.segment.end <= float(seconds)
        for other in everything
    )


def is_called(one, names):
    return not names or any(
        one.segment.label in GROUPS[name] for name in ([names] if isinstance(names, str) else names)
    )


TESTS = {
    "label": lambda one, value, _: is_called(one, value),
    "min_probability": lambda one, value, _: (one.segment.probability or -1) >= value,
    "max_probability": lambda one, value, _: one.segment.probability is not None and one.segment.probability <= value,
    "min_duration": lambda one, value, _: one.duration >= value,
    "max_duration": lambda one, value, _: one.duration <= value,
    "since": lambda one, value, _: one.local_time is not None and one.local_time >= bound(value),
    "until": lambda one, value, _: one.local_time is not None and one.local_time < bound(value, is_end=True),
    "between": lambda one, value, _: is_between(one, value),
    "path": lambda one, value, _: fits_path(one.recording.path, value),
    "near": is_near,
}
KEYS = {
    "path": lambda one: one.recording.path,
    "time": lambda one: one.local_time,
    "probability": lambda one: one.segment.probability,
    "duration": lambda one: one.duration,
    "novelty": lambda one: one.segment.novelty,
}
LARGEST_FIRST = {"probability", "duration"}


def in_order(some, sort):
    """Sorted; what has no value comes last either way, and among equals the path and the start decide."""
    name, is_reversed = sort.removeprefix("-"), sort.startswith("-")
    key = KEYS[name]
    plain = sorted(some, key=lambda one: (one.recording.path, one.segment.start))
    known = [one for one in plain if key(one) is not None]
    known.sort(key=key, reverse=is_reversed != (name in LARGEST_FIRST))
    return known + [one for one in plain if key(one) is None]


def looked_through(made, sort="path", limit=None, **options):
    fit = [one for one in made.all if all(TESTS[name](one, value, made.all) for name, value in options.items())]
    return [one.row for one in in_order(fit, sort)][:limit]


def found(made, **options):
    segments = made.archive.find(model="made", **options)
    result = segments.result
    return [(file, one.start, one.end, one.label) for file, one in zip(result.files, result.segments, strict=True)]


# --- one option at a time -------------------------------------------------------------------------------------------

CHOICES = {
    "label": [*CALLED, ["speech", "music"], ["voice", "unknown"], []],
    "min_probability": [0.0, 0.1, 0.7, 0.9, 1.0],
    "max_probability": [0.0, 0.1, 0.7, 0.9, 1.0],
    "min_duration": [0, 0.25, 5, 14.75, 100],
    "max_duration": [0, 0.25, 5, 14.75, 100],
    "since": ["2018", "2019", "2019-06", "2019-12", "2019-04-03", "2019-04-03T19:17", "2020-01-01 00:00:01.5"],
    "until": ["2018", "2019", "2019-06", "2019-12", "2019-04-03", "2019-04-03T19:17", "2020-01-01 00:00:01.5"],
    "between": ["04:00-07:00", "22:00-04:00", "18:30-24:00", "00:00-24:00", "0:00-12:00", "12:00-12:00"],
    "path": ["*.flac", "news/*", "it's/*", "été [[]1]/*", "a[*]b/?.wav", "/radio/*", "radio/*", "*", "[!x]*/1?.*",
             ["*.wav", "11.flac"], "none/*", "'; DROP TABLE recordings; --"],
    "near": ["music:5s", "voice:0", "speech:0.25 s", "unknown:2", f"{HOSTILE}:3s", "a*b[c]?:10s"],
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_an_option_gives_what_looking_through_gives(made, name):
    rows = []
    for value in CHOICES[name]:
        expected = looked_through(made, **{name: value})
        assert found(made, **{name: value}) == expected, value
        rows.append(len(expected))
    assert max(rows) > 0
    assert min(rows) < len(made.all)


@pytest.mark.parametrize("sort", [sign + name for name in KEYS for sign in ("", "-")])
def test_segments_come_in_the_order_that_is_asked_for(made, sort):
    assert found(made, sort=sort) == looked_through(made, sort=sort)
    assert found(made, sort=sort, limit=9) == looked_through(made, sort=sort)[:9]


def draw_options(rng):
    names = rng.choice(list(CHOICES), int(rng.integers(2, 6)), replace=False)
    options = {str(name): CHOICES[name][int(rng.integers(len(CHOICES[name])))] for name in names}
    sort = str(rng.choice([sign + name for name in KEYS for sign in ("", "-")]))
    return {**options, "sort": sort, "limit": int(rng.choice([1, 5, 1000]))}


def test_options_together_give_what_looking_through_gives(made):
    rng, n_found = np.random.default_rng(11), 0
    for _ in range(40):
        options = draw_options(rng)
        expected = looked_through(made, **options)
        assert found(made, **options) == expected, options
        n_found += bool(expected)
    assert n_found >= 10


def test_what_is_found_has_its_clock_time_and_its_values(made):
    segments = made.archive.find(model="made")
    expected = in_order(made.all, "path")
    assert list(segments.times) == [one.local_time for one in expected]
    assert segments.similarities is None
    assert segments.result.labels == LABELS
    assert segments.result.sample_rates == dict.fromkeys({one.recording.path for one in made.all}, 8000)
    assert np.allclose(segments.result.novelty, [one.segment.novelty for one in expected])
    assert segments.to_pandas()["at"].notna().sum() == sum(one.local_time is not None for one in expected)


def test_recordings_that_are_gone_are_not_found_and_copies_are_each(made):
    paths = {row[0] for row in found(made)}
    assert not [path for path in paths if path.split("/")[-1].split(".")[0] in ("3", "7", "17")]
    assert {"/radio/news/0.wav", "/radio/news/16.flac"} <= paths


def test_a_bound_in_single_precision_includes_what_is_equal(made):
    assert any(one.segment.probability == 0.9 for one in made.all)
    assert single(0.9) < 0.9 < single(0.7) + 0.3
    assert found(made, min_probability=0.9, max_probability=0.9)


def test_a_model_is_named_by_its_name_its_digest_or_the_start_of_it(made):
    for named in ("older", OLDER, OLDER[:4], OLDER.ljust(64, "0")):
        assert len(made.archive.find(model=named).result.segments) == 2  # of two copies
    assert len(made.archive.find().result.segments) == len(made.all)  # the last that was used
    with pytest.raises(UsageError, match=r"holds no results of 'none'; known: made \(0123456789ab\)"):
        made.archive.find(model="none")


@pytest.mark.parametrize("name", ["x'; DROP TABLE", "SPEECH", "", "speech "])
def test_a_label_that_nobody_knows_is_refused(made, name):
    with pytest.raises(UsageError, match="unknown label"):
        made.archive.find(name)
    with pytest.raises(UsageError, match="unknown label|must be a label and seconds"):
        made.archive.find(near=f"{name}:5s")
    assert len(found(made)) == len(made.all)


def test_moments_may_be_datetimes(made):
    moment = datetime(2019, 4, 3, 19, 17)
    assert found(made, since=moment, until=moment + timedelta(days=90)) == [
        one.row
        for one in in_order(made.all, "path")
        if one.local_time and moment <= one.local_time < moment + timedelta(days=90)
    ]


# --- what is typed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2019", datetime(2019, 1, 1), datetime(2020, 1, 1)),
        ("2019-12", datetime(2019, 12, 1), datetime(2020, 1, 1)),
        ("2020-02", datetime(2020, 2, 1), datetime(2020, 3, 1)),
        ("2020-02-29", datetime(2020, 2, 29), datetime(2020, 3, 1)),
        ("2019-04-03T19:17", datetime(2019, 4, 3, 19, 17), datetime(2019, 4, 3, 19, 17)),
        ("2019-04-03 19:17:30.25", datetime(2019, 4, 3, 19, 17, 30, 250000), datetime(2019, 4, 3, 19, 17, 30, 250000)),
    ],
)
def test_a_moment_is_a_time_a_day_a_month_or_a_year(text, start, end):
    assert (parse_moment(text), parse_moment(text, is_end=True)) == (start, end)


@pytest.mark.parametrize(
    "text", ["", "soon", "2019-13", "2019-02-30", "0000", "19", "2019-04-03T25:00", "2019-4-3", "²⁰¹⁹", "99999"]
)
def test_a_moment_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="must be a date such as 2019-04-03"):
        parse_moment(text)


def test_the_end_of_the_calendar_is_refused_as_an_end():
    for text in ("9999", "9999-12", "9999-12-31"):
        with pytest.raises(UsageError, match="must be a date"):
            parse_moment(text, is_end=True)


def test_a_moment_with_a_zone_is_refused():
    with pytest.raises(UsageError, match="times are those of the clock where recordings were made"):
        parse_moment("2019-04-03T19:17+02:00")


def test_times_of_the_day_are_two():
    assert parse_between("4:00 - 07:30:15") == (time(4), time(7, 30, 15))
    assert parse_between("22:00-24:00") == (time(22), time.max)
    for text in ("04:00", "4-7", "25:00-07:00", "04:60-05:00", "04:00-", "a-b", "", "04:00-07:00-08:00"):
        with pytest.raises(UsageError, match="must be"):
            parse_between(text)


def test_a_neighbour_is_a_label_and_seconds():
    groups = {"voice": ("speech",), "speech": ("speech",), "a:b": ("a:b",)}
    assert parse_near("voice:5s", groups) == Near(("voice", "speech"), 5.0)
    assert parse_near("a:b:0.5", groups) == Near(("a:b",), 0.5)
    for text in ("voice", "voice:", ":5s", "voice:-1", "voice:5m", "voice:inf", ""):
        with pytest.raises(UsageError, match="must be a label and seconds, such as music:5s"):
            parse_near(text, groups)


def test_orders_and_limits_are_checked():
    with pytest.raises(UsageError, match="unknown order 'size'"):
        SegmentQuery(sort="size")
    with pytest.raises(UsageError, match="unknown order '--path'"):
        SegmentQuery(sort="--path")
    with pytest.raises(UsageError, match="limit=0 must be at least 1"):
        SegmentQuery(limit=0)


def test_similarity_is_an_order_only_beside_an_example(made):
    for sort in ("similarity", "-similarity"):
        with pytest.raises(UsageError, match="--sort similarity needs --like with an example"):
            made.archive.find(sort=sort)


def test_every_option_was_tried():
    options = {"labels" if name == "label" else "paths" if name == "path" else name for name in CHOICES}
    assert options | {"sort", "limit"} == set(SegmentQuery.__dataclass_fields__)
