"""The evaluation of labels that overlap as one page: each label, all together, and what segments are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from audioclass.evaluation.multi_label import OF_LABELS, MultiLabelEvaluation, in_time_rows
from audioclass.markup import element, embedded_json, escape, page
from audioclass.outputs import atomic_write
from audioclass.reports.appearance import STYLE, cell, facts, row_head, table


def write_multi_label(
    path: Path, evaluation: MultiLabelEvaluation, *, title: str = "Evaluation", notes: Mapping[str, str] | None = None
) -> None:
    """Write `multi_label_page` to a file, whole or not at all."""
    atomic_write(path, multi_label_page(evaluation, title=title, notes=notes))


def multi_label_page(
    evaluation: MultiLabelEvaluation, *, title: str = "Evaluation", notes: Mapping[str, str] | None = None
) -> str:
    """A page that needs no network; its numbers also stand in it as JSON, in the element `evaluation`."""
    view, resampling = evaluation.main, evaluation.resampling
    about = (
        f"{view.n_examples} windows, {len(view.labels)} labels of which several may hold at once;"
        f" {100 * resampling.level:g} % bootstrap intervals, {resampling.n_resamples} resamples"
        f" over {view.n_groups} groups"
    )
    body = [
        element("h1", escape(title)),
        element("p", escape(about), class_="about"),
        facts(notes or {}),
        element("h2", "Labels") + _table(["label", "windows", *OF_LABELS.values()], view.label_rows()),
        element("h2", "All labels") + _table(["", "value", f"{resampling.level:.0%} interval"], view.rows()),
    ]
    if evaluation.in_time:
        body.append(element("h2", "Segments") + _table(["", "value"], in_time_rows(evaluation)))
    body.append(element("script", embedded_json(evaluation.to_plain()), type="application/json", id="evaluation"))
    return page(title, STYLE, "\n".join(body))


def _table(head: list[str], rows: Sequence[Sequence[str]]) -> str:
    return table(head, [[row_head(first), *map(cell, others)] for first, *others in rows])
