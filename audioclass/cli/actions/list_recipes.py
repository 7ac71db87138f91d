"""What `audioclass recipes` does: the recipes that are shipped, and one of them in full."""

from __future__ import annotations

from audioclass.cli import screen
from audioclass.engine.runs import make_run
from audioclass.extraction.recipes import load_recipe, recipe_text, shipped_recipes


def list_recipes(name: str | None, *, json: bool) -> None:
    """Every shipped recipe in a line, or one in full."""
    if name is not None:
        if json:
            screen.out_json(load_recipe(name, make_run().registry).plain())
        else:
            screen.out_text(recipe_text(name).rstrip())
        return
    tables = shipped_recipes()
    if json:
        screen.out_json(tables)
        return
    rows = [(name, f"{t['sample_rate']} Hz", f"{t['window']:g} s", str(t["summary"])) for name, t in tables.items()]
    screen.table(("name", "rate", "window", "what it is for"), rows)
