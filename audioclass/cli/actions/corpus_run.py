"""The run of a command that works on a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from audioclass.cli import screen
from audioclass.cli.options import CorpusOptions
from audioclass.engine.runs import KEEP_NOTHING, make_run
from audioclass.run import Progress, Run


def corpus_progress(options: CorpusOptions) -> AbstractContextManager[Progress]:
    """Bars; a command that is stopped says that it goes on when it is started again, where results are kept."""
    return screen.progress(hint="" if options.cache == KEEP_NOTHING else screen.KEPT)


def corpus_run(options: CorpusOptions, progress: Progress, seed: int = 0, outputs: Sequence[Path | None] = ()) -> Run:
    """A run where, and with the cache that, the options of the corpus say; outputs that are None are not written."""
    written = [output for output in outputs if output is not None]
    return make_run(
        executor=options.executor,
        cache=options.cache,
        progress=progress,
        seed=seed,
        outputs=written,
        strict=options.strict,
    )
