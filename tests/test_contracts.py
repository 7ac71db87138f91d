"""Every registered name, built in or installed, passes the check of its contract."""

import pytest

from audioclass.plugins.manager import plugin_manager
from audioclass.testing import check_component

MANAGER = plugin_manager()
ENTRIES = MANAGER.entries()
# A component with a required parameter, such as a file, is checked by its own distribution, which knows a value.
READY = [entry for entry in ENTRIES if not any(parameter.required for parameter in entry.parameters)]


@pytest.mark.parametrize("entry", READY, ids=[f"{entry.kind}-{entry.name}" for entry in READY])
def test_component_passes_the_checks_of_its_contract(entry):
    check_component(entry.kind, MANAGER.make(entry.kind, entry.name))


def test_the_plugins_of_the_repository_are_installed():
    assert {"laplacian", "chi2", "random_forest", "onnx", "egemaps", "ordinal", "hsic", "hts"} <= {
        entry.name for entry in ENTRIES
    }
    assert MANAGER.quarantine == []
