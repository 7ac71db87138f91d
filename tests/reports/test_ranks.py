from xml.etree import ElementTree

import numpy as np
import pytest

from audioclass.evaluation.ranks import rank_systems
from audioclass.reports.ranks import critical_difference_chart

SCORES = np.array([[0.9, 0.7, 0.8, 0.1]] * 12)
NAMES = ("<first> & best", "third", "second", "last")


def drawing(scores=SCORES, names=NAMES):
    return ElementTree.fromstring(critical_difference_chart(rank_systems(names, scores)))


def test_every_system_is_named_with_its_mean_rank():
    texts = [text.text for text in drawing().findall("text")]
    assert {"<first> & best  1.00", "second  2.00", "3.00  third", "4.00  last"} <= set(texts)


def test_lines_start_at_their_rank():
    starts = sorted(float(line.get("points").split(",")[0]) for line in drawing().findall("polyline"))
    np.testing.assert_allclose(np.diff(starts), 140)
    assert starts[0] == 210


def test_bars_join_what_cannot_be_told_apart():
    bars = drawing().findall("line[@class='clique']")
    assert [(float(bar.get("x1")), float(bar.get("x2"))) for bar in bars] == [(206, 354), (346, 494), (486, 634)]


@pytest.mark.parametrize("n_systems", [2, 3, 9])
def test_names_never_share_a_place(n_systems):
    scores = np.random.default_rng(0).random((6, n_systems))
    places = [
        (text.get("text-anchor"), text.get("y"))
        for text in drawing(scores, [f"system {number}" for number in range(n_systems)]).findall("text")
        if text.text.startswith("system") or "  system" in text.text
    ]
    assert len(set(places)) == len(places) == n_systems


def test_a_difference_longer_than_the_line_has_no_end():
    few = drawing(SCORES[:2])
    ends = [line for line in few.findall("line[@class='rule']") if line.get("y1") == "14"]
    assert len(ends) == 1
