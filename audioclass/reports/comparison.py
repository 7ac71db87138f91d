"""A comparison of systems as one page: what each reaches and costs, which pairs differ, and all their ranks drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from audioclass.evaluation.comparison import Comparison, Pair
from audioclass.evaluation.formatting import shown, shown_interval
from audioclass.evaluation.multi_label import MEASURES as OF_LABEL_SETS
from audioclass.evaluation.ranks import Ranked
from audioclass.evaluation.summary import MEASURES
from audioclass.markup import element, embedded_json, escape, page
from audioclass.outputs import atomic_write
from audioclass.reports.appearance import STYLE, cell, facts, figure, row_head, table
from audioclass.reports.ranks import critical_difference_chart

NAMES = {**OF_LABEL_SETS, **MEASURES}
SHOWN = (
    "accuracy",
    "balanced_accuracy",
    "macro_f1",
    "auc_one_vs_rest",
    "mean_average_precision",
    "exact_match",
    "log_loss",
    "brier",
    "calibration_error",
)
NOTE = "First minus second; p values are two-sided and corrected by Holm over the pairs."
FOLDS_NOTE = " Folds share training examples: the corrected t allows for it, Wilcoxon and ranks over folds do not."
TESTS = {"mcnemar": "McNemar", "corrected_t": "corrected t", "wilcoxon": "Wilcoxon", "wilcoxon_log_loss": "log-loss"}


def write_comparison(
    path: Path, comparison: Comparison, *, title: str = "Comparison", notes: Mapping[str, str] | None = None
) -> None:
    """Write `comparison_page` to a file, whole or not at all."""
    atomic_write(path, comparison_page(comparison, title=title, notes=notes))


def comparison_page(
    comparison: Comparison, *, title: str = "Comparison", notes: Mapping[str, str] | None = None
) -> str:
    """A page that needs no network; its numbers also stand in it as JSON, in the element `comparison`."""
    body = [
        element("h1", escape(title)),
        facts(notes or {}),
        element("h2", "Systems") + systems_table(comparison),
        element("h2", "Pairs") + pairs_table(comparison),
        _ranks(comparison.ranked) if comparison.ranked else "",
        element("script", embedded_json(comparison.to_plain()), type="application/json", id="comparison"),
    ]
    return page(title, STYLE, "\n".join(body))


def systems_table(comparison: Comparison) -> str:
    """Measures and costs of each system."""
    costs = comparison.costs
    names = [name for name in SHOWN if name in comparison.systems[0].measures]
    rows = [
        [row_head(system.name)]
        + [cell(shown(system.measures[name]), data_measure=name) for name in names]
        + [cell(f"{system.costs[name]:.4g}" if name in system.costs else "–", data_cost=name) for name in costs]
        for system in comparison.systems
    ]
    return table(
        ["", *(NAMES[name] for name in names), *(name.replace("_", " ") for name in costs)], rows, class_="systems"
    )


def pairs_table(comparison: Comparison) -> str:
    """The difference of each pair with its interval, and the p values after correction for the number of pairs."""
    tests = comparison.tests
    head = [
        "first",
        "second",
        f"difference in {NAMES[comparison.measure]}",
        "interval",
        *(f"p, {TESTS[name]}" for name in tests),
    ]
    note = NOTE + (FOLDS_NOTE if len(tests) > 1 else "")
    return table(head, [_pair(pair, tests) for pair in comparison.pairs], class_="pairs") + element(
        "p", note, class_="note"
    )


def _pair(pair: Pair, tests: Sequence[str]) -> list[str]:
    named = [row_head(pair.first), cell(pair.second, class_="name")]
    measured = [cell(f"{pair.difference:+.3f}"), cell(shown_interval(pair.interval), class_="interval")]
    return named + measured + [cell(_p(pair.adjusted.get(name)), data_test=name) for name in tests]


def _p(value: float | None) -> str:
    return "< 0.001" if value is not None and value < 0.001 else shown(value)


def _ranks(ranked: Ranked) -> str:
    caption = f"Mean ranks over {len(ranked.scores)} {'corpora' if ranked.block == 'corpus' else ranked.block + 's'}"
    text = (
        f"Friedman p {_p(ranked.friedman.p)}, Iman-Davenport p {_p(ranked.iman_davenport.p)}. A bar joins systems "
        f"whose ranks lie closer than the critical difference (Nemenyi, {ranked.alpha:g})."
    )
    chart = figure(caption, critical_difference_chart(ranked))
    return element("h2", "Ranks") + chart + element("p", escape(text), class_="note")
