import pytest
from environments import make_environment
from evenings import make_evening
from overlaps import train_overlaps, write_overlaps
from trained import train_small, write_corpus, write_recipe

from audioclass.classifier.saving import save_model
from audioclass.plugins.manager import plugin_manager


@pytest.fixture
def manager():
    """A plugin manager of its own, with the built-ins only."""
    return plugin_manager(installed=False)


@pytest.fixture
def environment(tmp_path):
    """A fresh environment with audioclass installed, for a test that installs plugins."""
    return make_environment(tmp_path / "environment")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with the small `corpus`, its recipe `small.toml` and a `cache`; tests add nothing to the corpus."""
    folder = tmp_path_factory.mktemp("small")
    write_corpus(folder / "corpus")
    write_recipe(folder)
    return folder


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A small model with its corpus and cache beside it; nobody changes them."""
    folder = tmp_path_factory.mktemp("trained")
    return train_small(folder)


@pytest.fixture(scope="session")
def model_file(trained, tmp_path_factory):
    """The file of the small model; nobody changes it."""
    path = tmp_path_factory.mktemp("model") / "small.audioclass"
    save_model(trained.model, path)
    return path


@pytest.fixture(scope="session")
def evening(model_file, tmp_path_factory):
    """Recordings with clock times in an archive of the small model; nobody changes them."""
    return make_evening(tmp_path_factory.mktemp("evening"), model_file)


@pytest.fixture(scope="session")
def overlap_corpus(tmp_path_factory):
    """A corpus whose labels overlap; nobody changes it."""
    return write_overlaps(tmp_path_factory.mktemp("overlaps") / "corpus")


@pytest.fixture(scope="session")
def overlap_trained(overlap_corpus):
    """A multi-label model of that corpus."""
    return train_overlaps(overlap_corpus)


@pytest.fixture(scope="session")
def overlap_file(overlap_trained, tmp_path_factory):
    """The file of that model; nobody changes it."""
    path = tmp_path_factory.mktemp("models") / "overlaps.audioclass"
    save_model(overlap_trained.model, path)
    return path
