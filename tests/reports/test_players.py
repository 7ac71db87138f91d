from pathlib import Path
from urllib.parse import unquote

import pytest
from pages import elements

from audioclass.data import Segment
from audioclass.evaluation.mistakes import Mistake
from audioclass.reports.players import mistakes_table, player, relative_link

MISTAKE = Mistake("a & b.wav", Segment(1.5, 2.25), "dog", "rain", 0.912, 0.05)


@pytest.mark.parametrize("name", ["plain.wav", "with space.wav", "50%#1?.wav", "été/chien.wav", "a:b.wav"])
def test_links_lead_from_the_page_to_the_file(name):
    link = relative_link(Path("corpus/audio") / name, Path("results/report.html"))
    assert unquote(link) == f"../corpus/audio/{name}"
    assert not set(link) & set(" #?:")


def test_players_play_the_stretch_and_load_nothing_before():
    ((_, attributes, _),) = elements(player("a%20b.wav", Segment(1.5, 2.25)), "audio")
    assert attributes == {"controls": "", "preload": "none", "src": "a%20b.wav#t=1.500,2.250"}


def test_without_times_the_whole_recording_is_played():
    assert 'src="a.wav"' in player("a.wav", None)


def test_a_mistake_is_told_and_can_be_heard():
    table = mistakes_table([MISTAKE], lambda file: f"../{file}")
    cells = [said for _, _, said in elements(table, "th", "td")][8:]
    assert cells == ["a & b.wav", "1.50 s", "2.25 s", "dog", "0.050", "rain", "0.912", ""]
    assert elements(table, "audio")[0][1]["src"] == "../a & b.wav#t=1.500,2.250"


@pytest.mark.parametrize("audio", [None, lambda file: None], ids=["no links", "no link to this"])
def test_without_a_link_there_is_no_player(audio):
    assert not elements(mistakes_table([MISTAKE], audio), "audio")


def test_a_mistake_without_a_place_is_shown_without():
    table = mistakes_table([Mistake("", None, "dog", "rain", 0.9, 0.1)], lambda file: "x.wav")
    assert [said for _, _, said in elements(table, "th", "td")][8:11] == ["–", "–", "–"]
    assert not elements(table, "audio")


def test_where_there_are_no_mistakes_the_page_says_so():
    assert "There are none." in mistakes_table([])
