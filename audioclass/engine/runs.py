"""The run of a command or of a call in Python: the one place where a run gets its plugins and its cache."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from audioclass import __version__
from audioclass.plugins.manager import plugin_manager
from audioclass.run import Executor, Progress, Run, SerialExecutor, silent
from audioclass.storage import Store, resumable

KEEP_NOTHING = Path("-")


def make_run(
    *,
    executor: Executor | None = None,
    cache: Path | None = None,
    progress: Progress = silent,
    seed: int = 0,
    outputs: Sequence[Path] = (),
    strict: bool = False,
) -> Run:
    """A run with every plugin that is installed; results are kept in `cache`, or in the user's own cache folder.

    `KEEP_NOTHING` keeps nothing.
    """
    folder = None if cache == KEEP_NOTHING else cache or user_cache()
    return Run(plugin_manager(), executor or SerialExecutor(), folder, progress, seed, tuple(outputs), strict)


def user_cache() -> Path:
    """Where results are kept unless a user says otherwise."""
    from platformdirs import user_cache_path

    return user_cache_path("audioclass", appauthor=False)


@contextlib.contextmanager
def stage_store(run: Run, stage: str, key: str) -> Iterator[Store | None]:
    """Where a stage keeps what it has done, so that a run that was killed goes on; None where nothing is kept.

    It is gone when the stage ends well; another version of ourselves begins anew.
    """
    if run.cache is None:
        yield None
        return
    digest = hashlib.sha256(f"{__version__} {key}".encode()).hexdigest()
    with resumable(run.cache / stage / digest) as store:
        yield store
