"""Experiments on how kernels and C are chosen: sweeps of C and of sigma, decision surfaces (specification 17).

`commands.py` (the command line), `tables.py` (examples from a file), `ledger.py` (what was computed is not computed
again), `sweeps.py`, `surfaces.py` and `figures.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from audioclass import component, hookimpl

if TYPE_CHECKING:
    import typer

    from audioclass.contracts import Command


@component
class Lab:
    """Experiments on how kernels and C are chosen."""

    name: ClassVar[str] = "lab"

    def app(self) -> typer.Typer:
        """Sweeps of C and of sigma, and decision surfaces."""
        from audioclass_lab.commands import app

        return app


@hookimpl
def register_commands() -> list[type[Command]]:
    """The command `lab`."""
    return [Lab]
