import inspect
import typing
from importlib import import_module

import pytest

from audioclass import hookspecs, testing
from audioclass.hookspecs import KINDS
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.sources import PluginSource

HOOKS = {name: hook for name, hook in vars(hookspecs).items() if name.startswith("register_")}


@pytest.mark.parametrize("kind", KINDS)
def test_hook_offers_its_components(kind):
    module = f"audioclass.plugins.templates.{kind}"
    manager = PluginManager([PluginSource("third-party", "1.0", (module,))])
    assert manager.quarantine == []
    assert manager.load(kind, "example_name") is import_module(module).ExampleName


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_hook_is_documented_with_its_arguments(hook):
    assert hook.__doc__.startswith("Offer ")
    assert all(name in hook.__doc__ for name in inspect.signature(hook).parameters)
    assert f"testing.check_{kind_of(hook).name}" in hook.__doc__


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_hook_has_a_contract_and_a_check(kind):
    assert typing.get_type_hints(kind.specification)["return"] == list[type[kind.contract]]
    assert callable(getattr(testing, f"check_{kind.name}"))
    assert testing.CHECKS[kind.name]


def test_no_hook_is_missing():
    assert {kind.hook for kind in KINDS.values()} == set(HOOKS)
    assert set(testing.CHECKS) == set(KINDS)


def test_kinds_that_one_option_chooses_share_their_names():
    assert KINDS["direct_strategy"].namespace == KINDS["strategy"].namespace == "strategy"


def kind_of(hook):
    return next(kind for kind in KINDS.values() if kind.hook == hook.__name__)
