from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from audioclass.errors import UsageError
from audioclass.parameters import (
    component,
    make,
    parameter,
    parameter_values,
    parameters_of,
    parse_assignments,
)


@component
class Component:
    name: ClassVar[str] = "component"
    sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 20.0), help="how wide")
    degree: int = parameter(2, low=1, high=9)
    share: float = parameter(0.5, low=0.0, below=1.0)
    shape: str = parameter("flat", choices=("flat", "round"))
    smooth: bool = False
    lengths: tuple[float, ...] = (1.0, 2.0)
    limit: float | None = parameter(None, above=0.0)


@dataclass(frozen=True)
class Careless:
    name: ClassVar[str] = "careless"
    sigma: float = parameter(1.0, above=0.0)


@component
class Demanding:
    name: ClassVar[str] = "demanding"
    file: str = parameter(help="what to read")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sigma": -1.0}, r"component: sigma=-1\.0 must be positive"),
        ({"sigma": 0}, "must be positive"),
        ({"sigma": float("nan")}, "sigma=nan must be finite"),
        ({"sigma": float("inf")}, "must be finite"),
        ({"sigma": "wide"}, "sigma='wide' must be a float"),
        ({"sigma": True}, "sigma=True must be a float"),
        ({"degree": 0}, "degree=0 must be at least 1 and at most 9"),
        ({"degree": 2.5}, "degree=2.5 must be an int"),
        ({"share": 1.0}, "share=1.0 must be at least 0 and below 1"),
        ({"shape": "rond"}, "unknown shape 'rond'; did you mean 'round'?"),
        ({"smooth": 1}, "smooth=1 must be a bool"),
        ({"lengths": 3.0}, r"lengths=3.0 must be a list of float in brackets, such as \[1\.0, 2\.0\]"),
        ({"lengths": ["x"]}, "lengths='x' must be a float"),
        ({"limit": -2}, r"limit=-2\.0 must be positive"),
        ({"sigm": 1.0}, "unknown parameter of component 'sigm'; did you mean 'sigma'?"),
    ],
    ids=lambda value: next(iter(value.items())) if isinstance(value, dict) else "",
)
def test_wrong_values_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        make(Component, values)


def test_a_component_checks_itself():
    with pytest.raises(ValueError, match="must be positive"):
        Component(sigma=-1)


def test_a_component_that_does_not_is_checked_when_made():
    with pytest.raises(UsageError, match="careless: sigma=-1.0 must be positive"):
        make(Careless, {"sigma": -1})


def test_a_parameter_without_a_default_must_be_given():
    with pytest.raises(UsageError, match="demanding: parameter 'file' must be given"):
        make(Demanding, {})


def test_values_become_plain_ones():
    component = Component(sigma=np.float32(2), degree=np.int64(3), smooth=np.bool_(True), lengths=[1, 2])
    assert parameter_values(component) == {
        "sigma": 2.0, "degree": 3, "share": 0.5, "shape": "flat", "smooth": True, "lengths": (1.0, 2.0), "limit": None,
    }  # fmt: skip
    assert type(component.sigma) is float
    assert type(component.smooth) is bool


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sigma=2", {"sigma": 2.0}),
        ("sigma=1e-3", {"sigma": 0.001}),
        ("shape=round", {"shape": "round"}),
        ("smooth=true", {"smooth": True}),
        ("lengths=[1, 2.5]", {"lengths": (1.0, 2.5)}),
    ],
)
def test_typed_values_are_read(text, value):
    assert parse_assignments(Component, [text]) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sigma", "'sigma' must be NAME=VALUE"),
        ("sigma=wide", "component: sigma='wide' must be a float"),
        ("sgma=2", "did you mean 'sigma'"),
        ("smooth=maybe", "must be a bool"),
    ],
)
def test_mistyped_values_are_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_assignments(Component, [text])


def test_one_statement_serves_validation_search_and_help():
    sigma, degree, *_ = parameters_of(Component)
    assert (sigma.limits, sigma.searchable, sigma.scale, sigma.help) == ("positive", (0.1, 20.0), "log", "how wide")
    assert degree.searchable == (1, 9)


def test_a_type_that_cannot_be_set_is_refused():
    @dataclass(frozen=True)
    class Odd:
        name: ClassVar[str] = "odd"
        table: dict = parameter(None)

    with pytest.raises(TypeError, match="parameter 'table': type .* must be float, int, bool, str"):
        parameters_of(Odd)
