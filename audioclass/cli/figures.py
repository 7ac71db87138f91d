"""Figures of evaluations and comparisons as tables of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from audioclass.cli import screen
from audioclass.evaluation.comparison import Comparison
from audioclass.evaluation.evaluation import Evaluation
from audioclass.evaluation.labels import LABEL_MEASURES
from audioclass.evaluation.multi_label import OF_LABELS, MultiLabelEvaluation, in_time_rows
from audioclass.evaluation.views import View


def different_views(evaluation: Evaluation) -> Sequence[View]:
    """The views of an evaluation; windows are left out where every recording is one."""
    main, windows = evaluation.views[0], evaluation.windows
    return (main,) if main.n_examples == windows.n_examples else evaluation.views


def show_labels(evaluation: MultiLabelEvaluation) -> None:
    """Of labels that overlap: each against its absence, all together, and what segments are worth."""
    view = evaluation.main
    screen.table(("label", "windows", *OF_LABELS.values()), view.label_rows())
    screen.out("")
    screen.table((f"per {view.unit}", "value", "95 %"), view.rows())
    if evaluation.in_time:
        screen.out("")
        screen.table(("segments", "value"), in_time_rows(evaluation))


def show_evaluation(evaluation: Evaluation | MultiLabelEvaluation) -> None:
    """Every measure with its interval, then each label against the rest."""
    if isinstance(evaluation, MultiLabelEvaluation):
        show_labels(evaluation)
        return
    views = different_views(evaluation)
    head = ("measure", *(cell for view in views for cell in (f"per {view.unit}", "95 %")))
    screen.table(head, [row[: len(head)] for row in evaluation.rows()])
    screen.out("")
    screen.table(("label", "examples", *LABEL_MEASURES.values()), evaluation.main.label_rows())


def show_comparison(comparison: Comparison) -> None:
    """Each system with its figures and costs, then each pair with its tests."""
    costs = [name.replace("_", " ") for name in comparison.costs]
    screen.table(("system", *comparison.main_measures.values(), *costs), comparison.rows())
    screen.out("")
    tests = [f"p {name.replace('_', ' ')}" for name in comparison.tests]
    screen.table(("first", "second", comparison.measure, "95 %", *tests), comparison.pair_rows())
