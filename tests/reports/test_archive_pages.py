"""The pages of an archive and of what is found in it: what stands in them, and how they behave in a browser."""

import re
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import soundfile
from browser import shown
from pages import elements, rows

from audioclass.data import Segment
from audioclass.reports.activity import Activity
from audioclass.reports.archive import ArchiveSummary, archive_page
from audioclass.reports.players import relative_link
from audioclass.reports.segment_tables import ListedSegment, found_page

NAMES = ("dog", "rain", "wind")
HOSTILE = ("<script>alert(1)</script>", "\"'>&<b>", "caf\udce9", "\x1b[31mred\nline\u202eevil", "x" * 5000, "</title>")
FIRST = date(2019, 3, 12)


def labels_of(n_labels, names=NAMES):
    return (*names, *(f"label {number}" for number in range(n_labels)))[:n_labels]


def listed(n_rows, labels=NAMES, **known):
    """Segments of two seconds, one after the other, of recordings that take turns."""
    return tuple(
        ListedSegment(
            f"station/{labels[number % len(labels)]}-{number % 3}.wav",
            Segment(2.0 * number, 2.0 * number + 2, labels[number % len(labels)]),
            **{"probability": 0.75, "runner_up": labels[0], "runner_up_probability": 0.125, **known},
        )
        for number in range(n_rows)
    )


def summary_of(n_labels=3, n_days=40, names=NAMES, **changes):
    """An archive that was recorded for half of every hour; labels share it evenly."""
    labels = labels_of(n_labels, names)
    dates = tuple(FIRST + timedelta(days=number) for number in range(n_days))
    recorded = np.full((n_days, 24), 0.5)
    months, counts = np.unique([day.isoformat()[:7] for day in dates], return_counts=True)
    given = {
        "title": "Station",
        "labels": labels,
        "months": tuple(months.tolist()),
        "hours_by_month": np.repeat(12.0 * counts[:, None] / n_labels, n_labels, axis=1),
        "hours_by_hour_of_day": np.full((24, n_labels), 0.5 * n_days / n_labels),
        "hours_without_clock": np.zeros(n_labels),
        "activity": Activity(labels, dates, recorded, np.repeat(recorded[None] / n_labels, n_labels, axis=0)),
        "most_certain": listed(6, labels, clock_time=datetime(2019, 3, 12, 5, 30)),
        "least_certain": listed(4, labels),
        "failed": (("station/broken.wav", "the file is empty"),),
        "notes": {"model": "a & b"},
    }
    return ArchiveSummary(**{**given, **changes})


def without_clock(n_labels=3):
    nothing = {"months": (), "hours_by_month": np.zeros((0, n_labels)), "activity": None}
    hours = {"hours_by_hour_of_day": np.zeros((24, n_labels)), "hours_without_clock": np.ones(n_labels)}
    return summary_of(n_labels, n_without_clock=4, **nothing, **hours)


ARCHIVES = {
    "empty": ArchiveSummary("Nothing"),
    "one recording": summary_of(1, 1),
    "no clock": without_clock(),
    "no hours": summary_of(hours_by_month=np.zeros((2, 3)), hours_by_hour_of_day=np.zeros((24, 3))),
    "some labels": summary_of(),
    "many labels and years": summary_of(60, 3653),
    "hostile names": summary_of(6, names=HOSTILE, failed=((HOSTILE[3], HOSTILE[0]),), notes=dict([HOSTILE[:2]])),
}


def headings(page):
    return [text for _, _, text in elements(page, "h2")]


# --- the page of an archive


def test_everything_has_its_section():
    assert headings(archive_page(summary_of())) == [
        "Labels", "Hours by month", "Activity", "Most certain", "Least certain", "Failed or damaged recordings (1)",
    ]  # fmt: skip


def test_an_empty_archive_says_so():
    page = archive_page(ArchiveSummary("Nothing"))
    assert "No segment is indexed." in page
    assert headings(page) == []


def test_labels_are_listed_by_their_hours():
    hours = np.array([[1.0, 5.0, 2.0]])
    page = archive_page(
        summary_of(months=("2019-03",), hours_by_month=hours, hours_without_clock=np.array([0, 0, 2.0]))
    )
    assert rows(page, "amounts")[1:] == [
        ["rain", "5.00", "50.0 %", "0.00"],
        ["wind", "4.00", "40.0 %", "2.00"],
        ["dog", "1.00", "10.0 %", "0.00"],
    ]


def test_charts_have_their_numbers_as_tables():
    page = archive_page(summary_of())
    assert rows(page, "numbers")[1] == ["00:00", "6.67", "6.67", "6.67"]
    assert rows(page.split("Hours by month as a table")[1], "numbers")[1:] == [
        ["2019-03", "80.0", "80.0", "80.0"],
        ["2019-04", "80.0", "80.0", "80.0"],
    ]


def test_recordings_without_a_clock_are_counted_by_themselves():
    page = archive_page(summary_of(n_without_clock=1, hours_without_clock=np.full(3, 0.5)))
    assert "1 recording has no known clock time (1.50 h): counted in the table alone." in page


def test_without_any_clock_nothing_is_drawn_over_time():
    page = archive_page(without_clock())
    assert "4 recordings have no known clock time (3.00 h): nothing is drawn over time." in page
    assert headings(page)[:2] == ["Labels", "Most certain"]
    assert "<svg" not in page.replace('<svg width="0"', "")


def test_of_many_labels_the_small_ones_wait_to_be_asked_for():
    page = archive_page(summary_of(60))
    assert len(rows(page, "amounts")) == 1 + 12
    assert "48 more labels" in page
    assert "54 other labels" in page


def test_failures_are_listed_with_their_reasons():
    page = archive_page(summary_of(failed=tuple((f"{number}.wav", "the file is empty") for number in range(502))))
    assert rows(page, "failed")[1] == ["0.wav", "the file is empty"]
    assert len(rows(page, "failed")) == 1 + 500
    assert "and 2 more" in page


@pytest.mark.parametrize(("archive", "limit"), [("empty", 20_000), ("many labels and years", 700_000)])
def test_pages_are_small(archive, limit):
    assert len(archive_page(ARCHIVES[archive], lambda file: "a.wav").encode()) < limit


@pytest.mark.parametrize("archive", ARCHIVES)
def test_pages_need_no_network(archive):
    page = archive_page(ARCHIVES[archive])
    attributes = [each for _, each, _ in elements(page, "link", "audio", "a", "img", "script")]
    addresses = [each[name] for each in attributes for name in ("src", "href") if name in each]
    assert addresses == ["data:,"]
    assert not re.search(r"https?://|@import|url\((?!#)", page)


def link(file):
    return relative_link(Path("archive") / file, Path("page.html"))


@pytest.mark.parametrize(
    "page",
    [
        archive_page(ARCHIVES["hostile names"], link),
        found_page(HOSTILE[0], listed(12, HOSTILE), notes=dict([HOSTILE[3:5]]), audio=link),
    ],
    ids=["archive", "found"],
)
def test_hostile_names_stay_text(page):
    assert not elements(page, "b")
    assert "alert" not in "".join(text for _, attributes, text in elements(page, "script") if "type" not in attributes)
    assert "\\x1b[31mred\\nline\\u202eevil" in page
    assert "caf\\xe9" in page


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"hours_by_month is \(1, 2\), must be \(2, 3\)"):
        summary_of(hours_by_month=np.zeros((1, 2)))


# --- the page of what is found


def test_rows_tell_all_that_is_known():
    page = found_page(
        "dog", listed(1, clock_time=datetime(2019, 3, 12, 5, 30), similarity=0.5), audio=lambda file: "a.wav"
    )
    assert rows(page, "segments") == [
        ["listen", "label", "probability", "runner-up", "similarity", "clock time", "recording", "start", "end"],
        ["▶", "dog", "0.750", "dog 0.125", "0.500", "2019-03-12 05:30:00", "station/dog-0.wav", "0:00.0", "0:02.0"],
    ]


def test_what_no_row_has_is_no_column():
    page = found_page("dog", listed(1, probability=None, runner_up=None))
    assert rows(page, "segments")[0] == ["label", "probability", "recording", "start", "end"]


def test_what_a_row_has_not_is_a_dash():
    both = (*listed(1, runner_up_probability=None, similarity=0.1), ListedSegment("b.wav", Segment(0, 1, "rain")))
    cells = rows(found_page("", both, audio=lambda file: "a.wav" if file != "b.wav" else None), "segments")
    assert cells[1][:5] == ["▶", "dog", "0.750", "dog", "0.100"]
    assert cells[2][:5] == ["–", "rain", "–", "–", "–"]


def test_addresses_are_asked_for_and_written_once():
    asked = []
    page = found_page("dog", listed(30), audio=lambda file: asked.append(file) or f"data:audio/wav;base64,{file}")
    assert len(asked) == len(set(asked)) == 3
    assert page.count("data:audio/wav;base64,station/rain-1.wav") == 1


def test_one_player_serves_all_rows():
    page = found_page("dog", listed(30), audio=lambda file: "a.wav")
    ((_, attributes, _),) = elements(page, "audio")
    assert attributes == {"controls": "", "preload": "none", "src": "a.wav#t=0.000,2.000"}


def test_of_very_many_segments_the_first_are_listed():
    page = found_page("dog", listed(30), most=20)
    assert "30 segments of 3 recordings; the first 20 are listed" in page
    assert len(rows(page, "segments")) == 1 + 20


def test_nothing_may_be_found():
    page = found_page("dog", (), audio=lambda file: "a.wav")
    assert "0 segments of 0 recordings" in page
    assert "There are none." in page
    assert not elements(page, "audio")


# --- in a browser


def opened(path, text, **options):
    path.write_bytes(text.encode())
    return shown(path, **options)


@pytest.mark.parametrize("archive", ARCHIVES)
def test_chromium_shows_every_archive_without_a_complaint(tmp_path, archive):
    narrow = {"width": 390, "height": 800}
    with opened(tmp_path / "é.html", archive_page(ARCHIVES[archive], lambda file: "a.wav"), viewport=narrow) as (
        page,
        complaints,
    ):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert complaints == []


FILLED = "[...document.querySelectorAll('#activity-cells path')].map(path => (path.getAttribute('d') || '').length > 0)"


def test_the_choice_of_a_label_redraws_its_map(tmp_path):
    given = summary_of(2, 40)
    given.activity.hours[0] = 0
    given.activity.recorded[3, 4:6] = 0
    with opened(tmp_path / "page.html", archive_page(given)) as (page, complaints):
        assert page.evaluate(FILLED) == [False] * 6 + [True]
        assert page.inner_text("#activity-top") == "50 % and more"
        page.select_option("#activity-label", "dog")
        assert page.evaluate(FILLED) == [True] + [False] * 6
        assert page.inner_text("#activity-top") == "0 %"
        assert complaints == []


def test_cells_of_the_map_are_read_by_keys_and_pointer(tmp_path):
    given = summary_of(2, 40)
    given.activity.recorded[0, 1] = 0
    with opened(tmp_path / "page.html", archive_page(given)) as (page, complaints):
        page.focus("#activity-map")
        page.keyboard.press("ArrowUp")
        assert page.inner_text("#activity-cell") == "2019-03-12, 00:00–01:00: 50 % dog"
        page.keyboard.press("ArrowDown")
        assert page.inner_text("#activity-cell") == "2019-03-12, 01:00–02:00: nothing recorded"
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#activity-cell") == "2019-03-13, 01:00–02:00: 50 % dog"
        page.hover("#activity-map svg", position={"x": 44 + 24 * 5 + 3, "y": 8 + 10 * 23 + 3})
        assert page.inner_text("#activity-cell") == "2019-03-17, 23:00–24:00: 50 % dog"
        assert complaints == []


def page_with_sound(folder, n_rows=30):
    soundfile.write(folder / "a.wav", np.sin(np.arange(60 * 8000) / 5), 8000)
    return found_page("dog", listed(n_rows), audio=lambda file: "a.wav")


NOW = "document.querySelector('#listen audio').currentTime"
PAUSED = "document.querySelector('#listen audio').paused"
FOCUSED = "document.activeElement.title"


def test_rows_are_heard_by_click_and_stop_at_their_end(tmp_path):
    with opened(tmp_path / "page.html", page_with_sound(tmp_path)) as (page, complaints):
        page.click(".segments button >> nth=3")
        page.wait_for_function(f"{NOW} > 6 && !{PAUSED}")
        assert page.inner_text("#listening") == "dog · 0:06.0 to 0:08.0 · station/dog-0.wav"
        assert page.inner_text("tr.now button") == "❚❚"
        page.click(".segments button >> nth=3")
        page.wait_for_function(PAUSED)
        assert page.evaluate(NOW) < 8
        page.click(".segments button >> nth=3")
        page.wait_for_function(f"{PAUSED} && {NOW} >= 7.9")
        page.click(".segments button >> nth=3")
        page.wait_for_function(f"{NOW} < 7 && !{PAUSED}")
        assert complaints == []


def test_rows_are_reached_and_heard_by_keys(tmp_path):
    with opened(tmp_path / "page.html", page_with_sound(tmp_path)) as (page, complaints):
        assert page.evaluate(FOCUSED).startswith("dog · 0:00.0")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(FOCUSED).startswith("rain · 0:02.0")
        page.keyboard.press("Enter")
        page.wait_for_function(f"{NOW} > 2 && !{PAUSED}")
        page.keyboard.press("ArrowDown")
        page.wait_for_function(f"{NOW} > 4 && !{PAUSED}")
        page.keyboard.press("Space")
        page.wait_for_function(PAUSED)
        assert complaints == []


def test_a_recording_that_is_gone_is_reported(tmp_path):
    with opened(tmp_path / "page.html", found_page("dog", listed(3), audio=lambda file: "none.wav")) as (page, _):
        page.click(".segments button >> nth=1")
        page.wait_for_function("document.getElementById('listening').textContent.startsWith('cannot be played')")
        assert page.inner_text("tr.now button") == "▶"


def test_thousands_of_rows_remain_usable(tmp_path):
    narrow = {"width": 390, "height": 800}
    with opened(tmp_path / "page.html", page_with_sound(tmp_path, 5000), viewport=narrow) as (page, complaints):
        assert page.evaluate("performance.timing.domComplete - performance.timing.navigationStart") < 10_000
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.click(".segments button >> nth=20")
        page.wait_for_function(f"{NOW} > 40")
        assert page.locator("audio").count() == 1
        assert complaints == []


def test_paper_has_no_players_and_shows_what_was_folded(tmp_path):
    sheet = {"width": 720, "height": 1000}
    with opened(tmp_path / "page.html", archive_page(summary_of(60), lambda file: "a.wav"), viewport=sheet) as (
        page,
        _,
    ):
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= 720
        assert page.locator("#listen:visible, button:visible, .listen:visible").count() == 0
        assert page.get_by_role("rowheader", name="label 56").first.is_visible()
        assert page.locator("svg.chart").first.is_visible()
