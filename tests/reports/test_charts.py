from xml.etree import ElementTree

import numpy as np
import pytest
from answers import LABELS, drawn
from pages import elements, rows

from audioclass.evaluation.calibration import top_label_reliability
from audioclass.evaluation.confusion import confusion_matrix
from audioclass.evaluation.ranking import roc_curve
from audioclass.reports.charts import SMALL, Plot, confusion_table, count, reliability_chart, roc_chart

HOSTILE = '<script>alert("1")</script> & Ünïcode'


def curves(P, y):
    return [roc_curve(P[:, label], y == label) for label in range(P.shape[1])]


def test_confusion_shows_every_number_and_name():
    y, P = drawn(60)
    confusion = confusion_matrix(y, P.argmax(axis=1), 3)
    head, *body = rows(confusion_table(confusion, LABELS), "confusion")
    assert head[1:] == list(LABELS)
    assert [row[0] for row in body] == list(LABELS)
    assert [[int(number) for number in row[1:]] for row in body] == confusion.tolist()


def test_shades_are_parts_of_rows_and_dark_ones_have_light_text():
    cells = [attributes for name, attributes, _ in elements(confusion_table(np.array([[3, 1], [0, 0]]), "ab"), "td")]
    assert [cell["style"] for cell in cells] == ["--share:0.750", "--share:0.250", "--share:0.000", "--share:0.000"]
    assert [cell.get("class") for cell in cells] == ["right dark", None, "none", "right none"]
    assert cells[1]["title"] == "a taken for b: 1 of 4"


@pytest.mark.parametrize(("weight", "said"), [(3.0, "3"), (2.25, "2.2"), (0.0, "0")])
def test_counts_are_whole_unless_weights_are_not(weight, said):
    assert count(weight) == said


def test_a_curve_stands_for_each_label_with_its_area():
    y, P = drawn(60)
    drawing, legend = roc_chart(curves(P, y), LABELS).split("</svg>", 1)
    lines = ElementTree.fromstring(drawing + "</svg>").findall("polyline[@class]/title/..")
    areas = {label: f"{curve.area:.3f}" for label, curve in zip(LABELS, curves(P, y), strict=True)}
    assert {line.find("title").text for line in lines} == {f"{label}: {area}" for label, area in areas.items()}
    assert {said.strip() for _, _, said in elements(legend, "li")} == {
        f"{label} {area}" for label, area in areas.items()
    }


def test_curves_run_from_corner_to_corner():
    y, P = drawn(60)
    plot = Plot(side=100, left=0, margin=0)
    drawing = roc_chart(curves(P, y), LABELS, plot).split("</svg>", 1)[0] + "</svg>"
    for line in ElementTree.fromstring(drawing).findall("polyline[@stroke-dasharray]"):
        points = line.get("points").split()
        assert (points[0], points[-1]) == ("0.0,100.0", "100.0,0.0")


def test_of_many_labels_the_worst_stand_out_by_colour_and_dash():
    y, P = drawn(200, 12)
    labels = [f"label {number}" for number in range(12)]
    chart = roc_chart(curves(P, y), labels)
    marked = [attributes for _, attributes, _ in elements(chart, "line")]
    assert len({(line["class"], line["stroke-dasharray"]) for line in marked}) == 7
    assert len({line["stroke-dasharray"] for line in marked}) == 7
    worst = min(range(12), key=lambda label: curves(P, y)[label].area)
    named = [said for _, _, said in elements(chart, "li")]
    assert named[0].split() == ["label", str(worst), f"{curves(P, y)[worst].area:.3f}"]
    assert named[-1] == "5 more, ranked better, in grey"


def test_a_label_without_a_curve_is_left_out():
    y, P = np.array([0, 0, 1]), np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])
    assert len(elements(roc_chart(curves(P, y), LABELS), "li")) == 2


@pytest.mark.parametrize("plot", [Plot(), SMALL], ids=["large", "small"])
def test_reliability_shows_a_point_for_each_bin_that_holds_something(plot):
    y, P = drawn(60)
    reliability = top_label_reliability(P, y, P.argmax(axis=1))
    drawing = ElementTree.fromstring(reliability_chart(reliability, HOSTILE, plot))
    full = np.flatnonzero(reliability.weights > 0)
    assert drawing.find("title").text == HOSTILE
    points = [(float(point.get("cx")), float(point.get("cy"))) for point in drawing.findall("circle")]
    assert points == [(plot.x(reliability.stated[i]), plot.y(reliability.observed[i])) for i in full]
    assert len(drawing.findall("rect")) == len(full)


def test_hostile_names_stay_text():
    y, P = drawn(20, 2)
    names = (HOSTILE, "b")
    markup = confusion_table(confusion_matrix(y, P.argmax(axis=1), 2), names) + roc_chart(curves(P, y), names)
    assert "<script" not in markup
    assert HOSTILE in [said for _, _, said in elements(markup, "th")]
