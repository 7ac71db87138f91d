import json

import numpy as np
import pytest
import sklearn.metrics
from answers import drawn
from browser import shown
from pages import elements, rows

from audioclass.data import Segment
from audioclass.errors import UsageError
from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.evaluation import evaluate
from audioclass.reports.evaluation import evaluation_page, write_evaluation

LABELS = ("dog", "<b>rain</b> & wind", "</script>Ünïcode", "never")
Y, P = drawn(60)
P = np.column_stack([P * 0.95, np.full(60, 0.05)])
FILES = [f"{label}-{number // 3}.wav" for number, label in enumerate(Y)]
SILENCE = "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
TREE = '<svg width="80" height="20" id="tree"><text x="2" y="14">tree</text></svg>'

# The contrast of a cell's text with its shade, as the web's accessibility guidelines define it.
CONTRAST = """cells => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = colour => {
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  return cells.map(cell => {
    const style = getComputedStyle(cell), [a, b] = [light(style.color), light(style.backgroundColor)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""


@pytest.fixture(scope="module")
def evaluation():
    segments = [Segment(row % 3, row % 3 + 1.0) for row in range(60)]
    paths = [("animal", LABELS[0]), *((label,) for label in LABELS[1:])]
    return evaluate(LABELS, Y, P, files=FILES, segments=segments, paths=paths, resampling=Resampling(50))


@pytest.fixture(scope="module")
def page(evaluation):
    notes = {"corpus": "a & b"}
    return evaluation_page(evaluation, title="How <good>", notes=notes, drawing=TREE, audio=lambda file: SILENCE)


EVERY_LABEL = {"average": "macro", "labels": range(4), "zero_division": 0}


def test_numbers_of_the_page_are_those_of_scikit_learn(page):
    estimated = P.argmax(axis=1)
    judged = {
        "accuracy": sklearn.metrics.accuracy_score(Y, estimated),
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score(Y, estimated),
        "macro_precision": sklearn.metrics.precision_score(Y, estimated, **EVERY_LABEL),
        "macro_recall": sklearn.metrics.recall_score(Y, estimated, **EVERY_LABEL),
        "macro_f1": sklearn.metrics.f1_score(Y, estimated, **EVERY_LABEL),
        "micro_f1": sklearn.metrics.f1_score(Y, estimated, average="micro"),
        "weighted_f1": sklearn.metrics.f1_score(Y, estimated, average="weighted"),
        "log_loss": sklearn.metrics.log_loss(Y, P, labels=range(4)),
        "brier": ((P - np.eye(4)[Y]) ** 2).sum(axis=1).mean(),
        "auc_one_vs_rest": np.mean([sklearn.metrics.roc_auc_score(label == Y, P[:, label]) for label in range(3)]),
    }
    said = {cell["data-measure"]: text for _, cell, text in elements(page, "td") if cell.get("data-view") == "window"}
    assert {name: said[name] for name in judged} == {name: f"{value:.3f}" for name, value in judged.items()}


def test_confusion_of_the_page_is_that_of_scikit_learn(page):
    section = page.split('id="per-window"')[1]
    numbers = [[int(number) for number in row[1:]] for row in rows(section, "confusion")[1:]]
    assert numbers == sklearn.metrics.confusion_matrix(Y, P.argmax(axis=1), labels=range(4)).tolist()


def test_labels_of_the_page_are_those_of_scikit_learn(page):
    section = page.split('id="per-window"')[1]
    judged = sklearn.metrics.precision_recall_fscore_support(Y, P.argmax(axis=1), labels=range(4), zero_division=0)
    for row, label, precision, recall, f, support in zip(rows(section, "labels")[1:], LABELS, *judged, strict=True):
        expected = [label, str(support), *(f"{value:.3f}" for value in (precision, recall, f))]
        assert [label, *(text.split()[0].rstrip("*") for text in row[1:5])] == expected
        assert row[0] == label


def test_what_had_nothing_to_divide_by_is_marked(page):
    last = rows(page, "labels")[-1]
    assert [text.split()[0] for text in last[:6]] == ["never", "0", "0.000*", "0.000*", "0.000*", "–"]
    assert "nothing to divide by" in page


def test_the_page_holds_its_numbers_as_json(page, evaluation):
    ((_, _, text),) = [each for each in elements(page, "script") if each[1].get("id") == "evaluation"]
    assert json.loads(text) == evaluation.to_plain()


def test_the_page_needs_nothing_from_outside(page):
    addresses = [
        attributes[name]
        for _, attributes, _ in elements(page, "link", "img", "script", "audio", "a", "source", "iframe")
        for name in ("src", "href")
        if name in attributes
    ]
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert "http" not in page
    assert "url(" not in page


def test_the_worst_mistakes_have_players_set_to_their_times(page, evaluation):
    sources = [attributes["src"] for _, attributes, _ in elements(page, "audio")]
    assert len(sources) == sum(len(view.mistakes) for view in evaluation.views) > 0
    first = evaluation.main.mistakes[0].segment
    assert sources[0] == f"{SILENCE}#t={first.start:.3f},{first.end:.3f}"


def test_title_notes_and_tree_stand_in_the_page(page):
    assert elements(page, "h1")[0][2] == "How <good>"
    assert elements(page, "dd")[0][2] == "a & b"
    assert TREE in page


def test_intervals_of_no_width_are_not_taken_for_certainty():
    certain = np.eye(2)[[0, 1] * 8]
    right = evaluate(("a", "b"), [0, 1] * 8, certain, resampling=Resampling(20))
    assert "An interval of no width is no certainty" in evaluation_page(right)


def test_windows_alone_make_a_page():
    page = evaluation_page(evaluate(LABELS, Y, P, resampling=Resampling(20)))
    assert 'id="per-window"' in page
    assert 'id="per-recording"' not in page
    assert "Tree of labels" not in page


def test_one_example_makes_a_page():
    page = evaluation_page(evaluate(("a", "b"), [0], [[0.75, 0.25]]))
    assert "There are none." in page
    assert "nan" not in page


@pytest.fixture(scope="module")
def opened(evaluation, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "évaluation.html"
    write_evaluation(path, evaluation, drawing=TREE, audio=lambda file: SILENCE)
    with shown(path) as (page, complaints):
        yield page, complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chromium_shows_the_page_without_a_complaint(opened, evaluation, scheme):
    page, complaints = opened
    page.emulate_media(color_scheme=scheme)
    page.locator("body > details").evaluate("element => element.open = true")
    accuracy = page.locator("td[data-measure=accuracy][data-view=recording]")
    assert accuracy.inner_text() == f"{evaluation.main.value('accuracy'):.3f}"
    assert page.locator("#per-window svg.chart").first.bounding_box()["width"] > 200
    assert page.locator("td b, th b").count() == 0
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_on_shaded_cells_can_be_read(opened, scheme):
    page, _ = opened
    page.emulate_media(color_scheme=scheme)
    assert min(page.locator(".confusion td").evaluate_all(CONTRAST)) > 3


def test_the_page_fits_a_narrow_screen(opened):
    page, _ = opened
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_folder_that_is_not_there_is_one_line(evaluation, tmp_path):
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        write_evaluation(tmp_path / "none" / "page.html", evaluation)
