"""A contract as a list of checks: small functions whose docstring is a sentence that must hold for a component."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from audioclass.errors import named_text_of
from audioclass.parameters import make, parameter_values, parameters_of
from audioclass.plain import is_plain

Check = Callable[[Any], None]


Outcome = Literal["passed", "failed", "does not apply"]


@dataclass(frozen=True)
class CheckResult:
    """The sentence of a check and how it came out; `reason` says why where it did not pass."""

    sentence: str
    outcome: Outcome = "passed"
    reason: str = ""


class CheckFailed(AssertionError):
    """What a check saw; the message says which value, not which line."""


class DoesNotApply(Exception):
    """The component lacks the optional ability that a check is about; the message says which."""


def skip_unless(applies: bool, reason: str) -> None:
    """End the check as not applying unless the component has what it is about."""
    if not applies:
        raise DoesNotApply(reason)


def require(condition: object, reason: str) -> None:
    """Fail the check unless the condition holds."""
    if not condition:
        raise CheckFailed(reason)


def require_close(actual: Any, expected: Any, tolerance: float, what: str) -> None:
    """Fail the check where two arrays differ by more than a tolerance relative to the larger of the two."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    require(actual.shape == expected.shape, f"{what}: shape {actual.shape}, expected {expected.shape}")
    difference = np.abs(actual - expected).max(initial=0)
    size = max(np.abs(expected).max(initial=0), np.abs(actual).max(initial=0), 1e-300)
    require(difference <= tolerance * size, f"{what}: differ by {difference:.3g} where values reach {size:.3g}")


def require_plain_arrays(arrays: Mapping[str, Any]) -> None:
    """Fail the check unless a model can hold these arrays: named in its way, finite and of numbers."""
    for name, array in arrays.items():
        require(re.fullmatch("[a-z0-9_]+", name), f"{name!r}: lower-case letters, digits and underscores only")
        require(np.asarray(array).dtype.kind in "fiub", f"{name} holds {np.asarray(array).dtype}")
        require(np.isfinite(array).all(), f"{name} holds NaN or infinite values")


def require_refusal(work: Callable[[], Any], what: str) -> None:
    """Fail the check unless the work ends in a ValueError with a text."""
    try:
        work()
    except ValueError as error:
        require(str(error), f"{what}: the ValueError has no text")
    else:
        raise CheckFailed(f"{what}: accepted, a ValueError is due")


def run_checks(component: Any, checks: Sequence[Check]) -> list[CheckResult]:
    """The result of every check; whatever a component raises fails the check that called it."""
    return [_run_one(component, check) for check in checks]


def require_checks(component: Any, checks: Sequence[Check]) -> None:
    """Raise a CheckFailed that lists every check the component fails."""
    failed = [result for result in run_checks(component, checks) if result.outcome == "failed"]
    if failed:
        lines = "\n".join(f"- {result.sentence} {result.reason}" for result in failed)
        raise CheckFailed(f"{type(component).__name__} fails {len(failed)} of {len(checks)} checks:\n{lines}")


def _run_one(component: Any, check: Check) -> CheckResult:
    sentence = (check.__doc__ or check.__name__).splitlines()[0]
    try:
        check(component)
    except DoesNotApply as error:
        return CheckResult(sentence, "does not apply", str(error))
    except CheckFailed as error:
        return CheckResult(sentence, "failed", str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the component is foreign code, which may even try to end the program
        return CheckResult(sentence, "failed", named_text_of(error))
    return CheckResult(sentence)


# --- checks of every kind


def says_what_it_is(component: Any) -> None:
    """Its docstring says in one line what it is."""
    doc = type(component).__doc__ or ""
    require(doc.strip() and not doc.startswith(f"{type(component).__name__}("), "the class has no docstring")


def parameters_are_plain(component: Any) -> None:
    """Its parameters survive a round trip through JSON as plain values."""
    values = parameter_values(component)
    require(is_plain(values), f"{values} holds something that JSON cannot")
    again = make(type(component), json.loads(json.dumps(values)))
    require(again == component, f"came back as {again}")


def cannot_be_changed(component: Any) -> None:
    """It is frozen: a parameter cannot be set."""
    for parameter in parameters_of(type(component)):
        try:
            setattr(component, parameter.name, getattr(component, parameter.name))
        except dataclasses.FrozenInstanceError:
            continue
        raise CheckFailed(f"{parameter.name} was set")


def refuses_what_is_out_of_range(component: Any) -> None:
    """A parameter outside its stated range is refused, and so is NaN."""
    for parameter in parameters_of(type(component)):
        for value in _outside(parameter):
            values = parameter_values(component) | {parameter.name: value}
            what = f"{parameter.name}={value!r} (is the class no @component?)"
            require_refusal(partial(_construct, type(component), values), what)


def _construct(cls: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    return cls(**values)


def _outside(parameter: Any) -> list[Any]:
    if parameter.choices:
        return ["no such choice"]
    if parameter.type not in ("float", "int"):
        return []
    bounds = [bound for bound in (parameter.above, parameter.below) if bound is not None]
    bounds += [parameter.low - 1] if parameter.low is not None else []
    bounds += [parameter.high + 1] if parameter.high is not None else []
    return [*bounds, float("nan")] if parameter.type == "float" else bounds


COMMON: tuple[Check, ...] = (
    says_what_it_is,
    parameters_are_plain,
    cannot_be_changed,
    refuses_what_is_out_of_range,
)


# --- parts of checks


def unchanged(arrays: Sequence[np.ndarray], work: Callable[[], Any]) -> Any:
    """The result of the work, which must leave these arrays as they were."""
    before = [array.copy() for array in arrays]
    result = work()
    for i, (was, now) in enumerate(zip(before, arrays, strict=True)):
        require(np.array_equal(was, now), f"argument {i} was changed in place")
    return result


def repeated(work: Callable[[], Any], what: str) -> Any:
    """The result of the work, which must be the same to the bit a second time."""
    first, second = work(), work()
    require(np.array_equal(np.asarray(first), np.asarray(second)), f"{what}: differs the second time")
    return first
