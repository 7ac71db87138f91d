"""`audioclass evaluate` and `audioclass compare`: how good a model or a configuration is, and which is better."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import ComparisonOptions, CorpusOptions, EvaluationOptions, Json, grouped

Folds = Annotated[
    str,
    typer.Option(
        "--folds",
        help="`auto`: those of the corpus as published, else five; `groups`: leave one group out; or a number.",
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a page that opens without a network.", show_default=False)
]


@screen.with_examples(
    "audioclass evaluate birds.audioclass test/ --report birds.html",
    "audioclass evaluate corpus/",
    "audioclass evaluate corpus/ --folds groups --strategy one_vs_one --json",
    "audioclass evaluate birds.audioclass test/ --min-accuracy 0.9 --max-ece 0.05",
)
@grouped
def evaluate(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="[MODEL] CORPUS", help="A model and a corpus, or a corpus to train on by folds."),
    ],
    training: EvaluationOptions,
    gathering: CorpusOptions,
    folds: Folds = "auto",
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="N",
            help="How deep the model's tree of labels is told; by default as deep as the labels of the corpus stand.",
            show_default=False,
        ),
    ] = None,
    report: Report = None,
    min_accuracy: Annotated[
        float | None, typer.Option("--min-accuracy", min=0, max=1, help="Fail below this accuracy.", show_default=False)
    ] = None,
    max_ece: Annotated[
        float | None,
        typer.Option(
            "--max-ece", min=0, max=1, help="Fail above this expected calibration error (ECE).", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate a model on a corpus, or a configuration on grouped folds of one.

    A model whose labels form a tree is evaluated on a corpus of groups too: the probability of a group is the sum over
    its labels.

    Measures are per recording and per window, with 95 % bootstrap intervals over groups. The exit code is 1 where a
    figure is not as good as was asked, or a recording could not be read to its end.
    """
    from audioclass.cli.actions import evaluate_model

    evaluate_model.evaluate(
        paths,
        training,
        gathering,
        folds=folds,
        depth=depth,
        report=report,
        min_accuracy=min_accuracy,
        max_ece=max_ece,
        json=json,
    )


@screen.with_examples(
    "audioclass compare corpus/ --with hybrid_dendrogram --with one_vs_one --with one_vs_rest",
    "audioclass compare test/ --with old.audioclass --with new.audioclass --report compare.html",
)
@grouped
def compare(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder or file of labelled recordings.")],
    systems: Annotated[
        list[str],
        typer.Option(
            "--with",
            "--strategy",
            help="A strategy (`NAME` or `NAME:parameter=value`) or a model file; again for more.",
        ),
    ],
    training: ComparisonOptions,
    gathering: CorpusOptions,
    folds: Folds = "auto",
    report: Report = None,
    json: Json = False,
) -> None:
    """Compare strategies, or models, on the same recordings and folds, with paired tests corrected for their number."""
    from audioclass.cli.actions import compare_systems

    compare_systems.compare(corpus, systems, training, gathering, folds=folds, report=report, json=json)
