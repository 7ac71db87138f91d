import pytest
from environments import make_environment

from audioclass.plugins.manager import plugin_manager


@pytest.fixture
def manager():
    """A plugin manager of its own, with the built-ins only."""
    return plugin_manager(installed=False)


@pytest.fixture
def environment(tmp_path):
    """A fresh environment with audioclass installed, for a test that installs plugins."""
    return make_environment(tmp_path / "environment")
