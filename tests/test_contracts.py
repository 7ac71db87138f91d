"""Every registered name, built in or installed, passes the check of its contract."""

import pytest

from audioclass.errors import MissingPackage
from audioclass.plugins.manager import plugin_manager
from audioclass.testing import check_component

MANAGER = plugin_manager()
ENTRIES = MANAGER.entries()
# A component with a required parameter, such as a file, is checked by its own distribution, which knows a value.
READY = [entry for entry in ENTRIES if not any(parameter.required for parameter in entry.parameters)]


@pytest.mark.parametrize("entry", READY, ids=[f"{entry.kind}-{entry.name}" for entry in READY])
def test_component_passes_the_checks_of_its_contract(entry):
    try:
        component = MANAGER.make(entry.kind, entry.name)
    except MissingPackage as error:  # of an extra: the distribution that offers it installs without
        pytest.skip(str(error))
    check_component(entry.kind, component)


def test_the_plugins_of_the_repository_are_installed():
    names = {"laplacian", "chi2", "random_forest", "onnx", "speech_embedding", "birdnet", "egemaps", "ordinal", "hsic"}
    assert names | {"hts"} <= {entry.name for entry in ENTRIES}
    assert MANAGER.quarantine == []
