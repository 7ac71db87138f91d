import json

import numpy as np
import pytest
from answers import LABELS, drawn
from browser import shown
from pages import elements, rows

from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.compare import compare
from audioclass.evaluation.predictions import Predictions
from audioclass.reports.comparison import comparison_page, write_comparison


def answers(skill):
    y, P = drawn(60, seed=0, skill=skill)
    return Predictions.of(LABELS, y, P)


def compared(*skills, folds=5):
    systems = {f"<{skill}> & co": answers(skill) for skill in skills}
    costs = {"<4.0> & co": {"train_seconds": 12.0, "support_vectors": 140}}
    return compare(systems, np.arange(60) % folds, costs=costs, resampling=Resampling(50))


@pytest.fixture(scope="module")
def comparison():
    return compared(4.0, 1.0, 0.0)


def test_systems_are_told_with_measures_and_costs(comparison):
    head, *body = rows(comparison_page(comparison), "systems")
    assert head[-2:] == ["train seconds", "support vectors"]
    assert [row[:2] for row in body] == [[one.name, f"{one.measures['accuracy']:.3f}"] for one in comparison.systems]
    assert [row[-2:] for row in body] == [["12", "140"], ["–", "–"], ["–", "–"]]


def test_pairs_are_told_with_corrected_p_values(comparison):
    head, *body = rows(comparison_page(comparison), "pairs")
    assert head[4:] == ["p, McNemar", "p, corrected t", "p, Wilcoxon"]
    pair = comparison.pairs[2]
    assert body[2][:3] == [pair.first, pair.second, f"{pair.difference:+.3f}"]
    assert body[2][6] == f"{pair.adjusted['wilcoxon']:.3f}"
    assert body[1][4] == "< 0.001"


def test_three_systems_are_drawn_by_rank_and_two_are_not(comparison):
    assert "Mean ranks over 5 folds" in comparison_page(comparison)
    assert "Mean ranks" not in comparison_page(compared(4.0, 0.0))


def test_without_folds_only_mcnemar_is_shown():
    assert rows(comparison_page(compared(4.0, 0.0, folds=1)), "pairs")[0][4:] == ["p, McNemar"]


def test_the_page_holds_its_numbers_as_json(comparison):
    text = next(said for _, attributes, said in elements(comparison_page(comparison), "script") if attributes.get("id"))
    assert json.loads(text) == comparison.to_plain()


def test_chromium_shows_the_page_without_a_complaint(comparison, tmp_path):
    write_comparison(tmp_path / "page.html", comparison, title="Which", notes={"corpus": "made up"})
    with shown(tmp_path / "page.html") as (page, complaints):
        assert page.locator("h1").inner_text() == "Which"
        assert page.locator("svg.chart").bounding_box()["width"] > 200
        assert complaints == []
