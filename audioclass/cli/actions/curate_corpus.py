"""What `audioclass corpus` does: findings, amounts and folds of a corpus."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from audioclass.cli import screen
from audioclass.corpora.choosing import choose_reader, read_corpus
from audioclass.corpora.manifest import write_manifest
from audioclass.curation.balance import Amount, Balance, corpus_balance
from audioclass.curation.checking import Finding, check_corpus
from audioclass.curation.inspection import Inspection, inspect_recordings, measure_recordings, recordings_of
from audioclass.curation.splitting import split_corpus
from audioclass.data import Corpus
from audioclass.engine.corpus_reading import corpus_readers, files_of
from audioclass.outputs import atomic_open, refuse_inputs
from audioclass.plugins.manager import plugin_manager
from audioclass.run import Executor, Progress

MOST_SHOWN = 20  # findings of one kind on the screen


def check(
    path: Path,
    *,
    folds: int,
    reader: str | None,
    settings: list[str] | None,
    executor: Executor,
    json: bool,
) -> None:
    """List what is wrong with a corpus; fail if anything is."""
    layout, corpus = _read(path, reader, settings)
    files = recordings_of(corpus)
    with screen.progress() as progress:
        inspections = _in_order(files, inspect_recordings(files, executor, progress), progress)
    findings = check_corpus(corpus, inspections, folds)
    if json:
        screen.out_json(_check_as_plain(path, layout, corpus, inspections, findings))
    else:
        _print_findings(findings)
    n_wrong = sum(finding.is_wrong for finding in findings)
    screen.note(f"{_found(path, layout, corpus)}; {n_wrong} errors, {len(findings) - n_wrong} notes")
    raise typer.Exit(1 if n_wrong else 0)


def stats(
    path: Path,
    *,
    reader: str | None,
    settings: list[str] | None,
    executor: Executor,
    json: bool,
) -> None:
    """Print the amounts of each label; fail if a recording cannot be read."""
    layout, corpus = _read(path, reader, settings)
    files = recordings_of(corpus)
    with screen.progress() as progress:
        measured = _in_order(files, measure_recordings(files, executor), progress)
    balance = corpus_balance(corpus, {file: one.seconds for file, one in measured.items()})
    failed = [one for one in measured.values() if one.reason]
    if json:
        screen.out_json(
            {"path": str(path), "reader": layout, "about": dict(corpus.about), **dataclasses.asdict(balance)}
        )
    else:
        _print_balance(balance)
    for one in failed:
        screen.note(one.reason)
    screen.note(f"{_found(path, layout, corpus)}; {_lengths(balance)}; evenness of labels {balance.evenness:.3f}")
    raise typer.Exit(1 if failed else 0)


def split(
    path: Path,
    output: Path,
    *,
    folds: int,
    seed: int,
    reader: str | None,
    settings: list[str] | None,
) -> None:
    """Write a manifest with folds."""
    if str(output) != "-":
        screen.check_place(output, [path])
    layout, corpus = _read(path, reader, settings)
    if str(output) != "-":
        refuse_inputs([output], files_of(corpus))
    folded = split_corpus(corpus, folds, np.random.default_rng(seed))
    _write_manifest(folded, output)
    screen.note(f"{_found(path, layout, corpus)}; {folds} folds of {_fold_sizes(folded)} clips")
    if any(len(names) > 1 for names in corpus.paths):
        screen.note(f"a manifest holds no tree of labels: train with --taxonomy {path}")


def _read(path: Path, reader: str | None, settings: Sequence[str] | None) -> tuple[str, Corpus]:
    """The name of the reader, and what it read."""
    chosen = choose_reader(path, corpus_readers(plugin_manager(), reader, settings or ()))
    return chosen.name, read_corpus(path, [chosen])


def _in_order(files: Sequence[Path], done: Iterable[Inspection], progress: Progress) -> dict[Path, Inspection]:
    inspections: dict[Path, Inspection] = {}
    for inspection in done:
        inspections[inspection.path] = inspection
        progress("recordings", len(inspections), len(files))
    return {file: inspections[file] for file in files}


def _write_manifest(corpus: Corpus, output: Path) -> None:
    if str(output) == "-":
        write_manifest(corpus, sys.stdout, Path())
        return
    with atomic_open(output) as stream:
        write_manifest(corpus, stream, output.parent)


def _print_findings(findings: Sequence[Finding]) -> None:
    shown: dict[str, list[Finding]] = {}
    for finding in findings:
        shown.setdefault(finding.kind, []).append(finding)
    rows = []
    for kind, alike in shown.items():
        rows += [("wrong" if one.is_wrong else "note", kind, one.where, one.detail) for one in alike[:MOST_SHOWN]]
        if len(alike) > MOST_SHOWN:
            rows.append(("", kind, "…", f"and {len(alike) - MOST_SHOWN} more; --json lists all"))
    if rows:
        screen.table(("", "what", "where", "why"), rows)


def _print_balance(balance: Balance) -> None:
    folds = list(balance.whole.folds)
    columns = ("label", "clips", "share", "recordings", "groups", "seconds", *(f"fold {fold}" for fold in folds))
    amounts = {**balance.labels, "all": balance.whole}
    screen.table(columns, [_row(label, amount, balance.whole, folds) for label, amount in amounts.items()])


def _row(label: str, amount: Amount, whole: Amount, folds: Sequence[str]) -> tuple[str, ...]:
    share = f"{100 * amount.clips / whole.clips:.1f} %"
    counts = (str(amount.clips), share, str(amount.recordings), str(amount.groups), f"{amount.seconds:.1f}")
    return (label, *counts, *(str(amount.folds.get(fold, 0)) for fold in folds))


def _found(path: Path, layout: str, corpus: Corpus) -> str:
    files = len({clip.file for clip in corpus.clips})
    return (
        f"{path}: read as {layout}; clips {len(corpus.clips)}, labels {len(corpus.labels)},"
        f" recordings {files}, ignored {len(corpus.ignored)}"
    )


def _lengths(balance: Balance) -> str:
    return f"clips last {balance.shortest:.2f} to {balance.longest:.2f} s, half of them at most {balance.median:.2f} s"


def _fold_sizes(corpus: Corpus) -> str:
    counts: dict[str, int] = {}
    for clip in corpus.clips:
        counts[clip.fold] = counts.get(clip.fold, 0) + 1
    return ", ".join(str(counts[fold]) for fold in sorted(counts, key=int))


def _check_as_plain(
    path: Path, layout: str, corpus: Corpus, inspections: dict[Path, Inspection], findings: Sequence[Finding]
) -> dict[str, Any]:
    return {
        "path": str(path),
        "reader": layout,
        "about": dict(corpus.about),
        "labels": list(corpus.labels),
        "clips": len(corpus.clips),
        "recordings": len(inspections),
        "groups": len({clip.group for clip in corpus.clips}),
        "seconds": sum(one.seconds for one in inspections.values()),
        "wrong": sum(finding.is_wrong for finding in findings),
        "findings": [dataclasses.asdict(finding) for finding in findings],
    }
