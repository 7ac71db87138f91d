"""The connection to a scheduler of Dask, at an address or started here, with its workers, for one command."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import json
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audioclass.cluster.tasks import Environment
from audioclass.errors import ClusterError, MissingPackage, UsageError, named_text_of
from audioclass.workers import interrupts_held

if TYPE_CHECKING:
    from audioclass.cluster.local import PatientCluster

CONNECT_TIMEOUT = 10.0  # seconds until a scheduler must answer
CLIENT_TIMEOUT = 120.0  # seconds for one that has answered: it may be busy
LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")
LOCAL = re.compile(r"local:(\d+)")


class Connection:
    """A client of a scheduler; where that was started here, it ends with the client, and its workers with it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.accepted: dict[str, list[Environment]] = {}  # environments of workers that were the same as ours
        self.is_closed = False
        with contextlib.ExitStack() as stack:
            stack.enter_context(_QUIET)
            with interrupts_held():  # for threads and processes that are started
                n_local = local_workers(address)
                self._cluster = _enter_local_cluster(stack, n_local) if n_local else None
                self._client = stack.enter_context(_client(self._cluster or _find_scheduler(address)))
            self._exit_stack = stack.pop_all()
        atexit.register(self.close)  # where nobody else does; Dask would wait for what workers are at

    @property
    def is_local(self) -> bool:
        """Whether the workers are processes of this one."""
        return local_workers(self.address) > 0

    @property
    def restarts_workers(self) -> bool:
        """Whether workers that died come back without being asked for, however long it takes them."""
        return self._cluster is not None and self._cluster.restarts_workers

    def workers(self) -> dict[str, int]:
        """The addresses of the workers that are there now, and how many threads each has."""
        try:
            threads: dict[str, int] = self._client.nthreads()
        except (OSError, RuntimeError) as error:
            raise self.lost(error) from error
        return threads

    def lost(self, error: BaseException) -> ClusterError:
        """The error of a scheduler that is gone."""
        return ClusterError(f"cluster {self.address}: the scheduler is gone ({named_text_of(error)})")

    def submit(self, worker: str, function: Callable[..., Any], *arguments: Any, rank: int = 0) -> Any:
        """The future of a call on a worker and on no other; what has a lower rank is done before it."""
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # that work is large: it is sent once
            return self._client.submit(function, *arguments, workers=[worker], pure=False, priority=-rank)

    def when_done(self, future: Any, callback: Callable[[Any, BaseException | None], None]) -> None:
        """Call back with the value of a future, or its error, from another thread, when the value is here."""

        async def fetch() -> None:
            try:
                value = await self._client.gather(future, asynchronous=True)
            except BaseException as error:  # whatever it is, who waits must know
                callback(None, error)
            else:
                callback(value, None)

        self._client.loop.add_callback(fetch)

    def cancel(self, futures: Sequence[Any]) -> None:
        """Nobody wants these: what has not started never does."""
        if futures and not self.is_closed:
            with contextlib.suppress(OSError, RuntimeError):  # a scheduler that is gone has nothing to cancel
                self._client.cancel(list(futures), force=True)

    def close(self) -> None:
        """End the client, and the processes that were started for it."""
        self.is_closed = True
        atexit.unregister(self.close)
        self._exit_stack.close()


def _enter_local_cluster(stack: contextlib.ExitStack, n_workers: int) -> PatientCluster:
    from audioclass.cluster.local import started_cluster  # Dask is imported by those who ask for it

    return stack.enter_context(started_cluster(n_workers))


def local_workers(address: str) -> int:
    """How many processes of this machine `local:4` asks for, as many as there are cores for `local:0`; else 0."""
    matched = LOCAL.fullmatch(address)
    return (int(matched[1]) or os.cpu_count() or 1) if matched else 0


def check_address(address: str) -> str:
    """The same address, where something could be there; and the package that could find out."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MissingPackage(f"--cluster needs distributed ({error}): pip install 'audioclass[cluster]'") from error
    if not local_workers(address) and not re.fullmatch(r"(\w+://)?[^:/]+:\d+|\w+://.+|.+\.json", address):
        raise UsageError(
            f"cluster {address!r} must be local:N, the address of a scheduler such as tcp://10.0.0.1:8786, "
            "or its file, such as scheduler.json"
        )
    return address


class _QuietLoggers:
    """Dask tells its log of every worker that comes and goes; what a user must know is told by us.

    Connections may overlap: the first that is made sets the levels, the last that is closed gives them back.
    """

    def __init__(self) -> None:
        self._n_entered = 0
        self._levels: dict[str, int] = {}

    def __enter__(self) -> None:
        self._n_entered += 1
        if self._n_entered == 1:
            import distributed  # noqa: F401  # it sets the levels of its loggers

            self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
            for name in LOGGERS:
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    def __exit__(self, *_: object) -> None:
        self._n_entered -= 1
        if self._n_entered == 0:
            for name, level in self._levels.items():
                logging.getLogger(name).setLevel(level)


_QUIET = _QuietLoggers()


def _find_scheduler(address: str) -> str:
    """The address of a scheduler that answers; a file may hold it."""
    place = _read_address(Path(address)) if address.endswith(".json") else address
    with concurrent.futures.ThreadPoolExecutor(1) as pool:  # this thread may have a loop that runs, as in a notebook
        identity = pool.submit(asyncio.run, _identity(place)).result()
    if identity is None:
        raise ClusterError(f"cluster {address}: no scheduler answers within {CONNECT_TIMEOUT:g} s")
    if not str(identity).startswith("Scheduler"):
        raise ClusterError(f"cluster {address}: what answers there is no scheduler of Dask")
    return place


def _read_address(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["address"])
    except OSError as error:
        raise UsageError(f"cluster {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"cluster {file}: not the file of a scheduler") from error


async def _identity(address: str) -> str | None:
    """What answers at an address, empty where it does not speak as Dask does; None where nothing answers in time."""
    from distributed import Security, rpc

    remote = None
    try:
        remote = rpc(address, timeout=CONNECT_TIMEOUT, connection_args=Security().get_connection_args("client"))
        return str((await asyncio.wait_for(remote.identity(), CONNECT_TIMEOUT))["type"])
    except OSError:  # also that time is up
        return None
    except Exception:  # what answers may say anything
        return ""
    finally:
        if remote is not None:
            await remote.close_rpc()


@contextlib.contextmanager
def _client(scheduler: Any) -> Iterator[Any]:
    from audioclass.cluster.client import connected_client  # Dask is imported by those who ask for it

    client = connected_client(scheduler, CLIENT_TIMEOUT)
    try:
        yield client
    finally:
        with contextlib.suppress(OSError):  # a scheduler that is gone need not be told
            client.close(timeout=CONNECT_TIMEOUT)
