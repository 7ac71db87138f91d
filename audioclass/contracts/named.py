"""What every component has."""

from __future__ import annotations

from typing import Protocol


class Named(Protocol):
    """Common to every component: the name it is chosen by."""

    @property
    def name(self) -> str:
        """The name it is chosen by, in lower case."""
