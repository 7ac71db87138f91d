"""An evaluation as one page: how good, how sure, where it goes wrong, and what that sounds like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audioclass.evaluation.evaluation import Evaluation
from audioclass.evaluation.formatting import shown, shown_interval
from audioclass.evaluation.labels import LABEL_MEASURES
from audioclass.evaluation.summary import MEASURES
from audioclass.evaluation.views import View
from audioclass.markup import element, embedded_json, escape, page
from audioclass.outputs import atomic_write
from audioclass.reports.appearance import STYLE, cell, facts, figure, row_head, table
from audioclass.reports.charts import SMALL, confusion_table, count, reliability_chart, roc_chart
from audioclass.reports.players import AudioLink, mistakes_table

NO_WIDTH = (
    "An interval of no width is no certainty: where not one mistake was seen no resample can show any, "
    "and among n groups an error of about 3/n may still have gone unseen."
)
UNDEFINED = "nothing to divide by: shown as 0, measured it was not"


def write_evaluation(
    path: Path,
    evaluation: Evaluation,
    *,
    title: str = "Evaluation",
    notes: Mapping[str, str] | None = None,
    drawing: str = "",
    audio: AudioLink | None = None,
) -> None:
    """Write `evaluation_page` to a file, whole or not at all."""
    atomic_write(path, evaluation_page(evaluation, title=title, notes=notes, drawing=drawing, audio=audio))


def evaluation_page(
    evaluation: Evaluation,
    *,
    title: str = "Evaluation",
    notes: Mapping[str, str] | None = None,
    drawing: str = "",
    audio: AudioLink | None = None,
) -> str:
    """A page that needs no network; its numbers also stand in it as JSON, in the element `evaluation`.

    `notes` say what was evaluated and how; `drawing` is the SVG of a tree of labels; `audio` gives the address of a
    recording for its player.
    """
    main, *others = evaluation.views
    body = [
        element("h1", escape(title)),
        element("p", escape(_about(evaluation)), class_="about"),
        facts(notes or {}),
        element("h2", "Measures") + summary_table(evaluation) + _width_note(evaluation),
        element("h2", "Tree of labels") + element("div", drawing, class_="wide tree") if drawing else "",
        _section(main, audio),
        *(
            element("details", element("summary", f"The same, per {view.unit}") + _section(view, audio))
            for view in others
        ),
        element("script", embedded_json(evaluation.to_plain()), type="application/json", id="evaluation"),
    ]
    return page(title, STYLE, "\n".join(body))


def summary_table(evaluation: Evaluation) -> str:
    """Each measure with its interval, per recording and per window."""
    columns = [(f"per {view.unit}", f"{evaluation.resampling.level:.0%} interval") for view in evaluation.views]
    rows = [
        [row_head(MEASURES[name]), *(part for view in evaluation.views for part in _measured(view, name))]
        for name in evaluation.main.measures
    ]
    return table(["", *(name for pair in columns for name in pair)], rows, class_="summary")


def label_table(view: View) -> str:
    """Each label against the rest, with intervals; a rate that had nothing to divide by is marked."""
    rates = view.label_table()
    rows = [
        [row_head(row["label"]), cell(count(row["support"]))]
        + [_rate(view, index, row, name) for name in LABEL_MEASURES]
        for index, row in enumerate(rates)
    ]
    note = element("p", f"* {UNDEFINED}", class_="note") if any(row["undefined"] for row in rates) else ""
    return table(["label", "examples", *LABEL_MEASURES.values()], rows, class_="labels") + note


def _about(evaluation: Evaluation) -> str:
    counts = ", ".join(f"{view.n_examples} {view.unit}s" for view in evaluation.views)
    resampling = evaluation.resampling
    intervals = (
        f"{100 * resampling.level:g} % bootstrap intervals, {resampling.n_resamples} resamples "
        f"over {evaluation.main.n_groups} groups"
    )
    return f"{counts}, {len(evaluation.labels)} labels; {intervals}"


def _width_note(evaluation: Evaluation) -> str:
    intervals = [interval for view in evaluation.views for interval in view.label_intervals.values()]
    return element("p", NO_WIDTH, class_="note") if any(one.low == one.high for one in intervals) else ""


def _measured(view: View, name: str) -> list[str]:
    measure = view.measures[name]
    value = cell(shown(measure.value), data_view=view.unit, data_measure=name)
    return [value, cell(shown_interval(measure.interval), class_="interval")]


def _rate(view: View, index: int, row: dict[str, Any], name: str) -> str:
    is_undefined = name.rstrip("1") in row["undefined"]
    value = shown(row[name]) + ("*" if is_undefined else "")
    interval = element("span", shown_interval(view.label_intervals[name, index]), class_="interval")
    return element("td", f"{value} {interval}", data_measure=name, title=UNDEFINED if is_undefined else None)


def _section(view: View, audio: AudioLink | None) -> str:
    parts = [
        element("h2", f"Per {view.unit}"),
        element("h3", "Confusion") + confusion_table(view.confusion, view.labels),
        element("div", _curves(view), class_="charts"),
        element("h3", "Labels") + label_table(view),
        element("details", element("summary", "Reliability of each label") + _label_charts(view)),
        element("h3", "Worst mistakes") + mistakes_table(view.mistakes, audio),
    ]
    return element("section", "\n".join(parts), id=f"per-{view.unit}")


def _curves(view: View) -> str:
    caption = f"Reliability of the decision, ECE {shown(view.value('calibration_error'))}"
    return figure("ROC, one vs rest, with areas", roc_chart(view.curves, view.labels)) + figure(
        caption, reliability_chart(view.reliability, caption)
    )


def _label_charts(view: View) -> str:
    charts = (
        figure(label, reliability_chart(reliability, f"Reliability of {label}", SMALL))
        for label, reliability in zip(view.labels, view.label_reliability, strict=True)
    )
    return element("div", "".join(charts), class_="charts")
