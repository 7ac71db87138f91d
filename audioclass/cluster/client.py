"""A client of a scheduler of Dask that others may be leaving at the same moment."""

from __future__ import annotations

import warnings
from typing import Any

from distributed import Client

ATTEMPTS = 10


class UnexpectedGreeting(OSError):
    """The first message of a scheduler did not come by itself."""


class PatientClient(Client):  # type: ignore[misc]  # Dask has no types
    """Ends as for any failed connection where Dask would fail an assertion and leave everything open.

    A scheduler tells all its clients what was cancelled. Told to one that it is greeting, that comes with the greeting,
    and Dask expects one message alone.
    """

    def start(self, **kwargs: Any) -> None:
        """In a thread, which ends where no connection is made."""
        try:
            super().start(**kwargs)
        except OSError:
            self._loop_runner.stop()
            raise

    async def _ensure_connected(self, timeout: float | None = None) -> None:
        try:
            await super()._ensure_connected(timeout)
        except AssertionError as error:
            raise UnexpectedGreeting("the scheduler was telling something else") from error


def connected_client(scheduler: Any, timeout: float) -> PatientClient:
    """A client of a scheduler, or of the cluster that has it; its versions are not compared here."""
    with warnings.catch_warnings(action="ignore"):
        for _ in range(ATTEMPTS - 1):
            try:
                return PatientClient(scheduler, timeout=timeout, set_as_default=False, name="audioclass")
            except UnexpectedGreeting:
                continue
        return PatientClient(scheduler, timeout=timeout, set_as_default=False, name="audioclass")
