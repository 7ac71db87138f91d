"""The options of a training as users state them: what becomes of a name, a text, a table or a path.

They are made from the fields of `TrainingConfig`, which knows what they mean together.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from audioclass.contracts import LabelLink
from audioclass.errors import UsageError, unknown_name
from audioclass.parameters import Parameter, component_text, parameter_of, parse_component
from audioclass.recordings import ABSENT, irregularity
from audioclass.run import Run

if TYPE_CHECKING:
    from audioclass.extraction.recipe import Recipe
    from audioclass.taxonomy import Taxonomy

FIXED = "fixed"
LEARN: Literal["learn"] = "learn"
AUTO_RECIPE: Literal["auto"] = "auto"
NO_LINK = "none"
EVERY_LINK = "auto"
OF_CORPUS = ("recipe", "window", "hop", "versions", "average_versions", "judge_versions", "taxonomy")
NAMES = {"kernels": "kernel", "links": "link"}  # fields that hold several of what an option names
FLAGS = {"C": ("--error-factor", "-C")}


def slot(kind: str, default: str, help: str) -> Any:  # noqa: A002 (the word that typer and argparse use)
    """A field that holds a component, or whatever else is resolved from a text; `default` is what nobody stated."""
    return field(default=None, metadata={"slot": {"kind": kind, "default": default, "help": help}})


@dataclass(frozen=True)
class Option:
    """A field of the configuration as users state it: its name, default and help, and how a value becomes the field's.

    A slot holds a component of `kind`; any other field is a `parameter` with its range.
    """

    name: str
    field: str
    default: Any
    help: str
    kind: str = ""
    parameter: Parameter | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """As it is spelled on a command line."""
        return FLAGS.get(self.name, (f"--{self.name.replace('_', '-')}",))

    @property
    def names(self) -> tuple[str, ...]:
        """As it is spelled in a file; the long flag counts too."""
        return tuple(dict.fromkeys([self.name, self.flags[0].removeprefix("--").replace("-", "_")]))

    @property
    def is_of_corpus(self) -> bool:
        """Whether it says how recordings become examples instead of how examples become a classifier."""
        return self.field in OF_CORPUS

    @property
    def type(self) -> type:
        """What a command line parses it as: lists and components are texts."""
        base = self.parameter.type.rstrip("?") if self.parameter else "str"
        return {"float": float, "int": int, "bool": bool}.get(base, str)

    def check(self, value: Any) -> Any:
        """A value of a parameter within its range."""
        assert self.parameter is not None  # noqa: S101 (asked only of parameters)
        try:
            return self.parameter.accept(value)
        except ValueError as error:
            raise UsageError(str(error)) from error

    def resolve(self, value: Any, run: Run) -> Any:
        """The field's value from what was stated."""
        if self.parameter is not None:
            value = _speeds(value) if self.field == "versions" else value
            is_list_as_text = isinstance(value, str) and self.parameter.type.startswith("list of")
            return self.check(_parsed(value) if is_list_as_text else value)
        if self.kind == "recipe":
            return _recipe(value, run)
        if self.kind == "taxonomy":
            return _taxonomy(value)
        if self.field == "kernels":
            if not _several(value):
                raise UsageError("kernel=[] must name at least one kernel")
            return tuple(run.component("kernel", _named(kernel, self.default)) for kernel in _several(value))
        if self.field == "links":
            return _links(value, run)
        if value is None or (self.kind == "criterion" and value == FIXED):
            return None
        return run.component(self.kind, _named(value, self.default))

    def text(self, value: Any) -> Any:
        """The value as a text or a number."""
        if self.parameter is None:
            if self.field == "links" and not value:
                return NO_LINK
            if value is None:
                return FIXED if self.kind == "criterion" else ""
            return "+".join(map(component_text, value)) if isinstance(value, tuple) else component_text(value)
        return str(list(value)) if isinstance(value, tuple) else value


def options_of(config: type[Any], hints: Mapping[str, Any]) -> tuple[Option, ...]:
    """An option for each field of a configuration that somebody can state; `hints` are the types of its fields."""
    options = []
    for each in dataclasses.fields(config):
        name = NAMES.get(each.name, each.name)
        if "slot" in each.metadata:
            options.append(Option(name, each.name, **each.metadata["slot"]))
        elif each.name != "chosen":
            stated = parameter_of(each, hints[each.name])
            options.append(Option(name, each.name, stated.default, stated.help, parameter=stated))
    return tuple(options)


def _parsed(text: str) -> Any:
    """A number, truth value or list from the text of a command line."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _speeds(stated: Any) -> Any:
    """A list of numbers from one that may be a text and may hold fractions such as `15/14`; else what was stated."""
    items = stated.strip().removeprefix("[").removesuffix("]").split(",") if isinstance(stated, str) else stated
    if not isinstance(items, (list, tuple)) or items == [""]:
        return () if items == [""] else stated
    try:
        return tuple(float(Fraction(item.strip())) if isinstance(item, str) else item for item in items)
    except (ValueError, ArithmeticError):
        return stated


def _several(stated: Any) -> list[Any]:
    """The kernels that compete: those of `a+b`, those of a sequence, or the one that was given."""
    if isinstance(stated, str):
        return stated.split("+")
    return list(stated) if isinstance(stated, (tuple, list)) else [stated]


def _named(stated: Any, default: Any) -> Any:
    """A table without a name is of the default's component."""
    is_nameless = isinstance(stated, Mapping) and "name" not in stated
    return {"name": default, **stated} if is_nameless else stated


def _links(stated: Any, run: Run) -> tuple[LabelLink, ...]:
    """No link, all that there are, or those that were stated."""
    if stated is None or stated == NO_LINK:
        return ()
    known = run.registry.names("link")
    names = known if stated == EVERY_LINK else _several(stated)
    for name in names:
        if isinstance(name, str) and parse_component(name)[0] not in known:
            raise unknown_name("link", name, [EVERY_LINK, NO_LINK, *known])
    return tuple(run.component("link", name) for name in names)


def _recipe(stated: Any, run: Run) -> Recipe | Literal["auto"] | None:
    if stated == AUTO_RECIPE:
        return AUTO_RECIPE
    if not isinstance(stated, str):
        if stated is not None and not hasattr(stated, "framing"):
            raise UsageError(f"recipe={stated!r} must be a name or a recipe")
        recipe: Recipe | None = stated
        return recipe
    from audioclass.extraction.recipes import load_recipe

    return load_recipe(stated, run.registry)


def _taxonomy(stated: Any) -> Taxonomy | Literal["learn"] | None:
    from audioclass.taxonomy import Taxonomy

    if not stated or isinstance(stated, Taxonomy):
        return stated or None
    if not isinstance(stated, (str, Path)):
        raise UsageError(f"taxonomy={stated!r} must be a path or `{LEARN}`")
    if stated == LEARN:
        return LEARN
    if irregularity(Path(stated)) == ABSENT:
        raise UsageError(f"{stated}: {ABSENT} or folder")
    return Taxonomy.read(Path(stated))
