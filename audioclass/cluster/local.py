"""A scheduler of Dask in this process and processes that work for it, for one command."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import dask
from distributed import LocalCluster, SpecCluster, Status


class PatientCluster(LocalCluster):  # type: ignore[misc]  # Dask has no types
    """A worker that dies is started again, however long that takes.

    Where a worker is not back after 15 seconds, as on a busy machine, Dask ends the nanny that is starting it: then
    none ever comes.
    """

    def _update_worker_status(self, op: str, msg: Any) -> None:
        super(SpecCluster, self)._update_worker_status(op, msg)

    @property
    def restarts_workers(self) -> bool:
        """Whether there is a nanny; one whose worker could not be started again has ended."""
        return any(nanny.status is Status.running for nanny in list(self.workers.values()))

    def kill_workers(self) -> None:
        """End the processes at once, whatever they do; nobody needs what they hold."""
        for nanny in list(self.workers.values()):
            nanny.close_gracefully()  # it does not start another
            if nanny.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(nanny.pid, signal.SIGKILL)


@contextlib.contextmanager
def started_cluster(n_workers: int) -> Iterator[PatientCluster]:
    """Its processes end with the context, and with this process, be it killed: each holds the end of a pipe."""
    settings: dict[str, Any] = {"distributed.nanny.pre-spawn-environ": {}}  # it would be that of this process too
    with tempfile.TemporaryDirectory(prefix="audioclass-", ignore_cleanup_errors=True) as folder:
        with dask.config.set(settings):
            cluster = PatientCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port that is free
                memory_limit=None,  # as for processes of our own
                silence_logs=logging.CRITICAL + 1,
                local_directory=folder,
            )
        try:
            yield cluster
        finally:
            cluster.kill_workers()
            cluster.close()
