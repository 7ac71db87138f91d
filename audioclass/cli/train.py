"""`audioclass train`: a labelled corpus to a model file, with figures of groups that were held out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import CorpusOptions, Json, TrainingOptions, grouped


@screen.with_examples(
    "audioclass train corpus/ -o birds.audioclass",
    "audioclass train corpus/ --strategy one_vs_one --trainer svm --jobs 0",
    "audioclass train corpus/ --taxonomy tree.toml --config choices.toml",
    "audioclass train more/ --update birds.audioclass -o birds2.audioclass",
    "audioclass train --update birds.audioclass --tree edited.toml -o birds2.audioclass",
)
@grouped
def train(
    training: TrainingOptions,
    gathering: CorpusOptions,
    corpus: Annotated[
        Path | None,
        typer.Argument(
            metavar="CORPUS",
            help="Folder or file of labelled recordings; not needed where --update has a --tree.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The model file (CORPUS.audioclass).", show_default=False),
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(
            "--update",
            help="Add the corpus to this model; only what it touches is trained again. Recordings and groups that the"
            " model knows stay one.",
            show_default=False,
        ),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            "--tree",
            help="Train exactly this tree of groups; with --update only where it differs from the model's.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Train a model on a labelled corpus.

    Windows of one group (a recording, a speaker) never stand on both sides of a fold. The report shows the accuracy on
    groups that were held out; a random split, which leaks groups, is shown for comparison. A run that was killed goes
    on where it stopped when it is started again. Options may also stand in a file `audioclass.toml` beside the corpus.

    Where labels are parts of longer recordings, windows are at most half as long as most of them, which the run states;
    --window and --hop state others. A labelled segment that no window is given to has one of its own.

    A recording that cannot be read is listed with its reason and left out; of a damaged one the labelled segments
    before the damage are used. The model is written unless a label has none left, and the exit code is 1.
    """
    from audioclass.cli.actions import train_model

    train_model.train(training, gathering, corpus=corpus, output=output, update=update, tree=tree, json=json)
