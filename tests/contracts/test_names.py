"""Every Protocol is a name of `audioclass.contracts`, whichever file of it says what it asks for."""

import pkgutil
import typing
from importlib import import_module

import pytest

from audioclass import contracts
from audioclass.hookspecs import KINDS

MODULES = [import_module(f"{contracts.__name__}.{module.name}") for module in pkgutil.iter_modules(contracts.__path__)]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_what_a_file_defines_is_promised(module):
    defined = {name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
    assert defined
    assert defined <= set(contracts.__all__)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_contract_of_every_kind_is_promised(kind):
    contract = KINDS[kind].contract
    for protocol in typing.get_args(contract) or [contract]:
        assert getattr(contracts, protocol.__name__) is protocol
