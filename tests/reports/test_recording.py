"""The page of a recording: what stands in it, how large it grows, and how it behaves in a browser."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import soundfile
from browser import shown
from segmentation.windows import windows_of

from audioclass.data import Posteriors, Result, Segment
from audioclass.reports.audio import audio_address
from audioclass.reports.envelope import Envelope
from audioclass.reports.recording import clock, recording_page

LABELS = ("parole", "</script><b>é", "bruit")


class Parsed(HTMLParser):
    """Elements by their id, addresses, and the text of script elements."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.addresses, self.scripts, self.tags = {}, [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        said = dict(attributes)
        self.tags.append(tag)
        self.ids[said.get("id")] = said
        self.addresses += [said[key] for key in ("src", "href") if said.get(key)]
        self.scripts += [""] if tag == "script" else []

    def handle_data(self, data):
        if self.tags[-1:] == ["script"]:
            self.scripts[-1] += data


def recording(seconds=20, hop=0.5, n_labels=3, each=5.0):
    """(result, windows) of a recording whose label changes every so many seconds."""
    labels = (LABELS + tuple(f"label {i}" for i in range(n_labels)))[:n_labels]
    n = int(seconds / hop)
    P = np.full((n, n_labels), 0.1 / max(n_labels - 1, 1))
    P[np.arange(n), (np.arange(n) * hop // each).astype(int) % n_labels] = 0.9
    starts = np.arange(0, seconds, each)
    segments = tuple(Segment(s, min(s + each, seconds), labels[i % n_labels]) for i, s in enumerate(starts))
    rows = P[(starts / hop).astype(int)]
    return Result(("é.wav",) * len(segments), segments, rows, labels), windows_of(P, hop, hop, labels)


def envelope(seconds, rate=8000):
    made = Envelope(rate)
    rng = np.random.default_rng(0)
    for _ in range(seconds):
        made.push(rng.uniform(-1, 1, rate))
    return made


def data_of(parsed):
    return json.loads(next(text for text in parsed.scripts if text.startswith("{")))


def test_segments_and_posteriors_are_in_the_page():
    page = Parsed(recording_page(*recording(), envelope(20), audio="a.wav"))
    data = data_of(page)
    assert data["names"] == list(LABELS)
    assert data["segments"][1][:4] == [5, 10, 1, 0.9]
    assert data["segments"][1][5] == 0.05
    assert data["duration"] == 20
    assert page.ids["player"]["src"] == "a.wav"
    assert {"wave", "posteriors", "segments", "axis", "legend", "list", "summary"} <= set(page.ids)


def test_the_page_needs_no_network():
    text = recording_page(*recording(), envelope(20))
    assert Parsed(text).addresses == ["data:,"]
    assert not re.search(r"https?://|@import|url\((?!\$)", text)


def test_without_a_recording_there_is_no_player():
    assert "player" not in Parsed(recording_page(*recording())).ids


@pytest.mark.parametrize("n_labels", [4, 60], ids=["few labels", "many labels"])
def test_the_page_of_an_hour_is_small(n_labels):
    result, windows = recording(3600, 0.1, n_labels, each=0.5)
    assert len(recording_page(result, windows, envelope(3600, 800)).encode()) < 2_000_000


def test_a_recording_without_segments_has_a_page():
    result, windows = recording(0)
    assert data_of(Parsed(recording_page(result, windows, Envelope(8000))))["segments"] == []


def test_groups_and_the_unknown_have_names_of_their_own():
    result, windows = recording(10)
    segments = (Segment(0, 5, "unknown"), *result.segments[1:])
    data = data_of(Parsed(recording_page(Result(result.files, segments, result.P, result.labels), windows)))
    assert data["names"][data["segments"][0][2]] == "unknown"
    assert data["segments"][0][3] is None


def test_the_runner_up_of_a_group_is_outside_it():
    P, paths = np.array([[0.5, 0.4, 0.1]]), (("animal", "cat"), ("animal", "dog"), ("engine",))
    result = Result(("a.wav",), (Segment(0, 1, "animal"),), P, ("cat", "dog", "engine"), paths)
    (segment,) = data_of(Parsed(recording_page(result, windows_of(P, labels=result.labels))))["segments"]
    assert segment == [0, 1, 3, 0.9, 2, 0.1]


def test_names_that_are_no_text_are_shown_escaped():
    P, odd = np.ones((1, 1)), "caf\udce9"
    page = recording_page(Result((odd,), (Segment(0, 1, odd),), P, (odd,)), windows_of(P, labels=(odd,)))
    assert page.encode().count(b"caf\\xe9") > 2


def test_one_page_shows_one_recording():
    result, windows = recording(10)
    with pytest.raises(ValueError, match="segments of 2 recordings, a page shows one"):
        recording_page(Result(("a", "b"), result.segments, result.P, result.labels), windows)


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00.0"), (59.96, "1:00.0"), (3723.4, "1:02:03.4")])
def test_clock(seconds, text):
    assert clock(seconds) == text


# --- in a browser


def page_with_sound(folder, embed_up_to):
    """A page on disk beside its recording."""
    sound, page = folder / "é 1.wav", folder / "page.html"
    soundfile.write(sound, np.sin(np.arange(20 * 8000) / 5), 8000)
    audio = audio_address(sound, page, embed_up_to=embed_up_to)
    page.write_text(recording_page(*recording(), envelope(20), audio=audio), encoding="utf-8")
    return page


READY = "document.getElementById('player').readyState >= 1"
NOW = "document.getElementById('player').currentTime"
SHOWN = "document.querySelectorAll('#segments button').length"
PAINTED = """id => { const c = document.getElementById(id);
    return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size }"""


@pytest.mark.parametrize("embed_up_to", [0, 10**6], ids=["linked", "embedded"])
def test_clicking_a_segment_seeks_the_player(tmp_path, embed_up_to):
    with shown(page_with_sound(tmp_path, embed_up_to)) as (page, complaints):
        page.wait_for_function(READY)
        page.click("#segments button >> nth=1")
        page.wait_for_function(f"{NOW} == 5")
        page.click("#list tbody tr >> nth=3")
        page.wait_for_function(f"{NOW} == 15")
        page.wait_for_function("document.getElementById('now').textContent.startsWith('0:15.0')")
        assert complaints == []


def test_keys_play_seek_and_zoom(tmp_path):
    narrow = {"width": 500, "height": 800}
    with shown(page_with_sound(tmp_path, 0), color_scheme="dark", viewport=narrow) as (page, complaints):
        page.wait_for_function(READY)
        page.click("#segments button >> nth=2")
        page.keyboard.press("ArrowLeft")
        page.wait_for_function(f"{NOW} == 5")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowDown")
        page.wait_for_function(f"{NOW} == 10")
        page.keyboard.press(" ")
        page.wait_for_function(f"{NOW} > 10")
        page.keyboard.press(" ")
        page.wait_for_function("document.getElementById('player').paused")
        for _ in range(4):
            page.keyboard.press("+")
        page.wait_for_function(f"{SHOWN} < 3")
        page.keyboard.press("-")
        page.keyboard.press("0")
        page.wait_for_function(f"{SHOWN} == 4")
        assert complaints == []


def test_everything_is_drawn_and_zooms_with_buttons_and_wheel(tmp_path):
    file = tmp_path / "page.html"
    file.write_text(recording_page(*recording(), envelope(20), title="<i>a"), encoding="utf-8")
    with shown(file) as (page, complaints):
        assert page.title() == "<i>a"
        page.wait_for_function(f"{SHOWN} == 4")
        assert page.evaluate(PAINTED, "wave") > 1
        assert page.evaluate(PAINTED, "posteriors") > 5
        assert page.locator("#legend li").all_inner_texts() == list(LABELS)
        assert page.locator("#segments button span").all_inner_texts()[:2] == list(LABELS[:2])
        for _ in range(3):
            page.click("#zoom-in")
        page.wait_for_function(f"{SHOWN} < 4")
        page.click("#fit")
        page.wait_for_function(f"{SHOWN} == 4")
        page.hover("#posteriors")
        for _ in range(10):
            page.mouse.wheel(0, -100)
        page.wait_for_function(f"{SHOWN} < 4")
        page.click("#posteriors", position={"x": 100, "y": 50})
        assert complaints == []


def overlapping():
    """(result, windows) of a recording in which labels start together, lie in one another, and leave time without."""
    segments = (
        Segment(0.0, 8.0, "music"),
        Segment(0.0, 4.0, "speech"),
        Segment(4.0, 4.5, "silence"),
        Segment(10.0, 20.0, "speech"),
        Segment(12.0, 14.0, "music"),
    )
    P = np.tile([0.8, 0.7], (40, 1))
    labels, times = ("music", "speech"), tuple(Segment(i / 2, i / 2 + 0.5) for i in range(40))
    result = Result(("é.wav",) * 5, segments, P[:5], labels, independent=True)
    return result, Posteriors(P, labels, times, independent=True)


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_that_overlap_have_lanes_and_are_told_together(tmp_path, width):
    sound, file = tmp_path / "é 1.wav", tmp_path / "page.html"
    soundfile.write(sound, np.sin(np.arange(20 * 8000) / 5), 8000)
    audio = audio_address(sound, file, embed_up_to=0)
    file.write_text(recording_page(*overlapping(), envelope(20), audio=audio), encoding="utf-8")
    with shown(file, viewport={"width": width, "height": 900}) as (page, complaints):
        page.wait_for_function(READY)
        page.wait_for_function(f"{SHOWN} == 5")
        tops = page.eval_on_selector_all("#segments button", "all => all.map(one => one.style.top)")
        assert tops == ["4px", "48px", "92px", "48px", "4px"]
        assert page.inner_text("#legend").split() == ["music", "speech", "silence"]
        assert "runner-up" not in page.inner_text("#list")
        now = "document.getElementById('now').textContent"
        marked = "document.querySelectorAll('#list .now').length"
        assert ("music" in page.evaluate(now), "speech" in page.evaluate(now), page.evaluate(marked)) == (True, True, 2)
        for start in (4, 10, 12, 12):  # the last has none after it
            page.keyboard.press("ArrowDown")
            page.wait_for_function(f"{NOW} == {start}")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.wait_for_function(f"{NOW} == 0")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"{NOW} == 9")
        page.wait_for_function(f"{now} == '0:09.0' && {marked} == 0")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []
