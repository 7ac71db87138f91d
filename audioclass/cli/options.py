"""Options that several commands share, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Write JSON for programs.")]
