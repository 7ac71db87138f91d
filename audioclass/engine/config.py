"""The choices of a training, by name or as components, and the method they make."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audioclass.classifier.preprocessing import NORMALISATIONS
from audioclass.errors import UsageError, unknown_name
from audioclass.hookspecs import KINDS
from audioclass.parameters import make, parameter_values, parse_assignments
from audioclass.plain import toml_value

if TYPE_CHECKING:
    from audioclass.plugins.manager import PluginManager
    from audioclass.training.train import Method

FIXED = "fixed"
BETWEEN = re.compile(r",(?![^\[]*\])")  # a comma that is not inside a list


@dataclass(frozen=True)
class Choices:
    """What a user may choose of a training; a component is its name, `name:parameter=value,…`, or an object.

    `criterion` may be `fixed`: kernels and C are taken as they are. `large` is the trainer of dichotomies with many
    examples. With `weigh_groups` the groups of features get weights by the gradient of the criterion.
    """

    strategy: Any = "hybrid_dendrogram"
    kernel: Any = "gaussian_unscaled"
    trainer: Any = "least_squares"
    calibrator: Any = "platt"
    criterion: Any = "leave_group_out_log_loss"
    search: Any = "pattern"
    large: Any = "landmarks"
    C: float = 10.0
    normalisation: str = "rank"
    weigh_groups: bool = False
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.C < float("inf"):
            raise UsageError(f"C={self.C} must be positive and finite")
        if self.folds < 2:
            raise UsageError(f"folds={self.folds} must be at least 2")
        if self.seed < 0:
            raise UsageError(f"seed={self.seed} must be at least 0")
        if self.normalisation not in NORMALISATIONS:
            raise unknown_name("normalisation", str(self.normalisation), NORMALISATIONS)

    @classmethod
    def of(cls, said: Mapping[str, Any], where: str = "") -> Choices:
        """From a plain table, as it stands in a file of choices."""
        known = [field.name for field in dataclasses.fields(cls)]
        for key in said:
            if key not in known:
                raise UsageError(f"{where}: {unknown_name('choice', key, known)}")
        defaults = cls()
        for key, value in said.items():
            if type(value) is not type(getattr(defaults, key)) and not (key == "C" and type(value) is int):
                raise UsageError(f"{where}: {key}={value!r} must be a {type(getattr(defaults, key)).__name__}")
        return cls(**said)

    def to_plain(self) -> dict[str, Any]:
        """As they stand in a file of choices: what `of` takes back."""
        return {key: value if isinstance(value, (int, float)) else said_of(value) for key, value in vars(self).items()}

    def method(self, manager: PluginManager, column_groups: Sequence[str] = ()) -> Method:
        """The components behind the names; `column_groups` is the group of each feature."""
        from audioclass.training.examples import FitOptions
        from audioclass.training.selection import Selection
        from audioclass.training.train import Method

        kernels = kernels_of(self.kernel)
        selection = None
        if self.criterion != FIXED:
            criterion = component_of(manager, "criterion", self.criterion)
            weighed = tuple(column_groups) if self.weigh_groups else ()
            search = component_of(manager, "search", self.search)
            selection = Selection(criterion, search, seed=self.seed, column_groups=weighed)
        return Method(
            component_of(manager, "strategy", self.strategy),
            tuple(component_of(manager, "kernel", kernel) for kernel in kernels),
            FitOptions(
                component_of(manager, "trainer", self.trainer),
                component_of(manager, "calibrator", self.calibrator),
                n_folds=self.folds,
                seed=self.seed,
                large=component_of(manager, "trainer", self.large),
            ),
            self.C,
            selection,
        )


def kernels_of(said: Any) -> list[Any]:
    """The kernels that compete: those of `a+b`, those of a sequence, or the one that was given."""
    if isinstance(said, str):
        return said.split("+")
    return list(said) if isinstance(said, (tuple, list)) else [said]


def said_of(component: Any) -> str:
    """A component as the text that makes it again: `name`, or `name:parameter=value,…`."""
    if isinstance(component, str):
        return component
    if isinstance(component, (tuple, list)):
        return "+".join(said_of(one) for one in component)
    values = {name: value for name, value in parameter_values(component).items() if value is not None}
    texts = [f"{name}={value if isinstance(value, str) else toml_value(value)}" for name, value in values.items()]
    return ":".join(filter(None, [component.name, ",".join(texts)]))


def component_of(manager: PluginManager, kind: str, said: Any) -> Any:
    """A component from `name` or `name:parameter=value,…`; what is no text is a component already."""
    if not isinstance(said, str):
        return _checked(kind, said)
    name, colon, assignments = said.partition(":")
    cls = manager.load(kind, name)
    texts = [text.strip() for text in BETWEEN.split(assignments)] if colon else []
    return make(cls, parse_assignments(cls, texts))


def _checked(kind: str, component: Any) -> Any:
    if isinstance(component, type) or not hasattr(component, "name"):
        contract = KINDS[kind].contract
        raise UsageError(f"{kind}={component!r} must be a name or a {contract}, not a {type(component).__name__}")
    return component
