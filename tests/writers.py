"""Processes that write to an archive, several at once; each is forked from one that has imported all that they need."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest.mock import patch

import duckdb  # noqa: F401  # imported where it is needed; here, so that it is there when processes are forked
import numpy as np
import pyarrow.parquet
from made_archives import MadeRecording, recording_table, window_table
from runs import run

from audioclass.engine import indexing
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archives import Archive
from audioclass.index.tables import Inserter, Table, delta

delta()


def start(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """A process that does a work of this module."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with patch.dict(os.environ, {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}):
        forkserver.ensure_running()
    process = context.Process(target=work, args=arguments)
    process.start()
    return process


def end_well(processes: Sequence[BaseProcess]) -> None:
    """Wait for processes, none of which may fail."""
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)


def add(archive: str, model: Path, *paths: Path) -> None:
    """Add recordings, with commits as often as can be."""
    indexing.COMMIT_EVERY = 0.05
    Archive(archive, run()).add(*paths, model=model)


def segment(archive: str, *durations: float) -> None:
    """Make segments anew, with each of these least durations."""
    for seconds in durations:
        Archive(archive, run()).segment(SegmentChoice("none", seconds))


def insert(archive: str, model: str, *contents: str) -> None:
    """Insert three windows of each of these contents, one content after the other."""
    inserter = Inserter(Table.named(archive, "windows"), model, set(), set())
    for content in contents:
        rows = window_table(content, np.ones((3, 4), np.int8), model)
        inserter.insert(lambda version, rows=rows: rows)


def create_and_insert(archive: str, model: str, *contents: str) -> None:
    """The same in an archive that is made first."""
    indexing.create_archive(archive)
    insert(archive, model, *contents)


def change_recordings(archive: str, name: str) -> None:
    """Upsert, update and delete recordings: four of a name of their own, and one that all writers share."""
    table = Table.named(archive, "recordings")
    for i in range(4):
        table.upsert(recording_table([MadeRecording(f"/{name}-{i}", "1"), MadeRecording("/shared", name)]))
        table.update(pyarrow.table({"path": [f"/{name}-{i}"], "content": [name]}))
    table.delete(f"path = '/{name}-0'")
