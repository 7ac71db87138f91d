"""Commands of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from audioclass.contracts.named import Named

if TYPE_CHECKING:
    import typer


class Command(Named, Protocol):
    """A command of the command line; `audioclass NAME`, with hyphens for the underscores of the name."""

    def app(self) -> typer.Typer:
        """The Typer application that runs under the name; made, or imported, when the command is used."""
