"""What `audioclass compare` does: strategies or models on the same recordings, with the tests of each pair."""

from __future__ import annotations

from pathlib import Path

import typer

from audioclass.cli import screen
from audioclass.cli.actions.corpus_run import corpus_progress, corpus_run
from audioclass.cli.actions.evaluate_model import TRAINED_ALREADY
from audioclass.cli.figures import show_comparison
from audioclass.cli.options import ComparisonOptions, CorpusOptions
from audioclass.cli.stated_options import StatedOptions
from audioclass.engine import comparing
from audioclass.engine.models import load_model, names_model
from audioclass.errors import UsageError
from audioclass.evaluation.comparison import Comparison
from audioclass.reports.comparison import write_comparison
from audioclass.run import Run


def compare(
    corpus: Path,
    systems: list[str],
    training: ComparisonOptions,
    gathering: CorpusOptions,
    *,
    folds: str,
    report: Path | None,
    json: bool,
) -> None:
    """Compare and show the figures of each system and the tests of each pair."""
    if report is not None:
        screen.check_place(report, [*training.files(corpus), *map(Path, systems)])
    are_models = [names_model(name) for name in systems]
    if any(are_models) != all(are_models):
        raise UsageError("strategies and model files cannot be compared with one another; give only one sort")
    with corpus_progress(gathering) as progress:
        if all(are_models):
            training.refuse(TRAINED_ALREADY)
            run = corpus_run(gathering, progress, outputs=[report])
            comparison = _compare_models(corpus, systems, gathering.reader, run)
        else:
            stated = training.beside(corpus)
            run = corpus_run(gathering, progress, stated.seed, [report])
            comparison = _compare_strategies(corpus, systems, stated, folds, gathering.reader, run)
    screen.out_json(comparison.to_plain()) if json else show_comparison(comparison)
    if report is not None:
        write_comparison(report, comparison, title=f"Comparison on {corpus.name}")
        screen.note(f"{report}: written")
    for reason in comparison.failures:
        screen.note(reason)
    raise typer.Exit(1 if comparison.failures else 0)


def _compare_models(corpus: Path, files: list[str], reader: str | None, run: Run) -> Comparison:
    names = [Path(file).stem for file in files]
    names = names if len(set(names)) == len(names) else files
    comparing.check_several(names)
    models = {name: load_model(file) for name, file in zip(names, files, strict=True)}
    return comparing.compare_models(corpus, models, reader=reader, run=run)


def _compare_strategies(
    corpus: Path, strategies: list[str], stated: StatedOptions, folds: str, reader: str | None, run: Run
) -> Comparison:
    comparing.check_several(strategies)
    return comparing.compare_configs(corpus, stated.configs(run, strategies), folds=folds, reader=reader, run=run)
