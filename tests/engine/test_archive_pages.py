"""Pages of real archives, and their hours against sums over single segments."""

from collections import Counter
from datetime import datetime, timedelta
from urllib.parse import unquote

import numpy as np
import pytest
import soundfile
from browser import shown
from evenings import Evening
from made_archives import MadeRecording, MadeSegment, analysis_table, append, make_archive, occurrences
from pages import elements
from runs import run
from trained import RATE, mixture

from audioclass.engine.archive_pages import archive_summary, write_archive_page, write_found_page
from audioclass.engine.archives import open_archive
from audioclass.index.snapshot import Snapshot

LABELS = ("a", "b")
HOUR = timedelta(hours=1)
RECORDINGS = [
    MadeRecording("/night.wav", "night", datetime(2019, 12, 31, 22, 59, 59), 60),
    MadeRecording("/day.wav", "day", datetime(2020, 2, 28, 23, 0), 0),
    MadeRecording("/copy of day.wav", "day", datetime(2020, 2, 28, 23, 0), -30),
    MadeRecording("/undated.wav", "undated"),
    MadeRecording("/gone.wav", "gone", datetime(2020, 2, 1), 0, is_removed=True),
]
SEGMENTS = [
    MadeSegment("night", 0.0, 0.5, "a", 0.9),  # the last second of the year, and five hours from there on
    MadeSegment("night", 0.5, 5 * 3600 + 0.25, "b", 0.8),
    MadeSegment("night", 18000.25, 18001.0, "a", 0.7),  # up to a full hour
    MadeSegment("night", 18001.0, 21601.0, "a", 0.6),  # one whole hour, from its start to its end
    MadeSegment("day", 0.0, 3600.0 * 30, "b", 0.5),  # more than a day
    MadeSegment("day", 108000.0, 108000.125, "a", 0.4),
    MadeSegment("undated", 0.0, 1800.0, "a", 0.3),
    MadeSegment("gone", 0.0, 3600.0, "a", 0.2),
]


def hours_by_brute_force(found):
    """Seconds of each label in each hour, walked through from hour to hour."""
    hours = Counter()
    for one in found:
        if one.local_time is None:
            continue
        now, end = one.local_time, one.local_time + timedelta(seconds=one.duration)
        while now < end:
            hour = now.replace(minute=0, second=0, microsecond=0)
            upto = min(end, hour + HOUR)
            hours[one.segment.label, hour] += (upto - now).total_seconds() / 3600
            now = upto
    return hours


def summary_of(archive):
    snapshot = Snapshot(str(archive))
    return archive_summary(snapshot, snapshot.model())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "archive"
    make_archive(folder, RECORDINGS, SEGMENTS, [[label] for label in LABELS])
    ends = {one.content: one.end for one in SEGMENTS}
    append(folder, "analyses", analysis_table(list(ends), seconds=list(ends.values())))
    return summary_of(folder)


@pytest.fixture(scope="module")
def expected():
    return hours_by_brute_force(occurrences(RECORDINGS, SEGMENTS))


def test_months_and_hours_of_day_are_sums_over_segments(made, expected):
    assert made.labels == LABELS
    assert made.months == ("2019-12", "2020-01", "2020-02", "2020-03")
    by_month, by_hour = np.zeros((4, 2)), np.zeros((24, 2))
    for (label, hour), amount in expected.items():
        by_month[made.months.index(f"{hour:%Y-%m}"), LABELS.index(label)] += amount
        by_hour[hour.hour, LABELS.index(label)] += amount
    np.testing.assert_allclose(made.hours_by_month, by_month, atol=1e-9)
    np.testing.assert_allclose(made.hours_by_hour_of_day, by_hour, atol=1e-9)


def test_the_map_has_every_hour_of_every_date(made, expected):
    activity = made.activity
    assert (activity.dates[0], activity.dates[-1]) == (datetime(2019, 12, 31).date(), datetime(2020, 3, 1).date())
    assert len(activity.dates) == 62
    hours = np.zeros_like(activity.hours)
    for (label, hour), amount in expected.items():
        hours[LABELS.index(label), (hour.date() - activity.dates[0]).days, hour.hour] += amount
    np.testing.assert_allclose(activity.hours, hours, atol=1e-6)
    np.testing.assert_allclose(activity.recorded, hours.sum(axis=0), atol=1e-6)


def test_shares_of_labels_that_overlap_are_of_what_was_recorded(tmp_path):
    recordings = [MadeRecording("/day.wav", "day", datetime(2020, 2, 28, 12, 0), 0)]
    segments = [MadeSegment("day", 0.0, 900.0, "a", 0.9), MadeSegment("day", 0.0, 1800.0, "b", 0.8)]
    make_archive(tmp_path / "archive", recordings, segments, [[label] for label in LABELS], independent=True)
    append(tmp_path / "archive", "analyses", analysis_table(["day"], seconds=[3600.0]))
    activity = summary_of(tmp_path / "archive").activity
    assert activity.recorded[0, 12] == 1.0
    assert activity.hours[:, 0, 12].tolist() == [0.25, 0.5]


def test_what_has_no_clock_is_counted_by_itself_and_what_is_gone_not_at_all(made):
    np.testing.assert_allclose(made.hours_without_clock, [0.5, 0.0])
    assert made.n_without_clock == 1
    assert made.hours.sum() == pytest.approx(sum(one.duration for one in occurrences(RECORDINGS, SEGMENTS)) / 3600)


def test_certain_and_doubtful_segments_are_those_of_the_largest_and_smallest_probability(made):
    assert [row.probability for row in made.most_certain][:2] == pytest.approx([0.9, 0.8])
    assert [row.probability for row in made.least_certain][:2] == pytest.approx([0.3, 0.4])
    assert "/gone.wav" not in {row.file for row in (*made.most_certain, *made.least_certain)}


def opened(path):
    """What Chromium shows of a page at the width of a telephone: its text; nothing leaves, nothing is too wide."""
    requests = []
    with shown(path, viewport={"width": 390, "height": 800}) as (page, complaints):
        page.on("request", lambda request: requests.append(request.url))
        page.reload()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        text = page.inner_text("body")
        assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    return text


def test_the_page_of_an_evening_in_a_browser(evening, tmp_path):
    write_archive_page(Snapshot(str(evening.archive)), tmp_path / "page.html")
    text = opened(tmp_path / "page.html")
    for words in ("Hours by hour of day", "Hours by month", "Activity", "Most certain", "Least certain", "broken.wav"):
        assert words in text
    assert "1 recording has no known clock time" in text
    assert "--smooth hmm --min-duration 0" in text


def test_what_is_found_is_heard_from_where_it_lies(evening, tmp_path):
    found = evening.open().find("clicks")
    write_found_page(found, tmp_path / "found.html", "Segments: label clicks")
    opened(tmp_path / "found.html")
    with shown(tmp_path / "found.html") as (page, complaints):
        page.click("table button >> nth=1")
        page.wait_for_function("document.querySelector('audio').readyState > 0")
        source = page.evaluate("document.querySelector('audio').currentSrc")
        assert unquote(source).partition("#")[0].endswith("recordings/20190404_065954.wav")
        assert complaints == []


def test_an_archive_without_clock_times_is_drawn_without_them(tmp_path, model_file):
    alone = Evening(tmp_path / "recordings", tmp_path / "archive")
    alone.recordings.mkdir()
    soundfile.write(alone.recordings / "talk.wav", mixture(), RATE)
    alone.open().add(alone.recordings, model=model_file)
    write_archive_page(Snapshot(str(alone.archive)), tmp_path / "page.html")
    text = opened(tmp_path / "page.html")
    assert "nothing is drawn over time" in text
    assert "Hours by month" not in text


def test_an_archive_without_segments_has_a_page(tmp_path, model_file):
    (tmp_path / "broken.wav").write_text("no audio", encoding="utf-8")
    archive = open_archive(tmp_path / "archive", run=run())
    archive.add(tmp_path / "broken.wav", model=model_file)
    write_archive_page(Snapshot(str(tmp_path / "archive")), tmp_path / "page.html")
    text = opened(tmp_path / "page.html")
    assert "No segment is indexed." in text
    assert "the file is text, not audio" in text
    write_found_page(archive.find(), tmp_path / "found.html", "Segments")
    assert "Segments" in opened(tmp_path / "found.html")


def test_a_recording_that_is_gone_has_no_player(tmp_path):
    archive = make_archive(tmp_path / "archive", RECORDINGS, SEGMENTS, [[label] for label in LABELS])
    write_archive_page(Snapshot(str(archive)), tmp_path / "page.html")
    assert elements((tmp_path / "page.html").read_text(encoding="utf-8"), "audio") == []
