"""What CONTRIBUTING.md says is true: its component keeps its contract, and the places that it names are there."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from environments import REPOSITORY

from audioclass import hookspecs
from audioclass.testing import check_kernel

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
TAUGHT = {"audioclass/kernels/cauchy.py", "tests/kernels/test_cauchy.py"}  # what the page teaches to write
PLACES = sorted(set(re.findall(r"`((?:audioclass|tests)/[\w/.]+)`", PAGE)) - TAUGHT)


@pytest.fixture
def taught(tmp_path, monkeypatch):
    """The component of the page, imported."""
    path = tmp_path / "cauchy.py"
    path.write_text(re.search(r"^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)[1], encoding="utf-8")
    spec = spec_from_file_location("cauchy", path)
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cauchy", module)
    spec.loader.exec_module(module)
    return module


def test_the_component_of_the_page_keeps_its_contract(taught):
    assert taught.register_kernels() == [taught.Cauchy]
    check_kernel(taught.Cauchy())


@pytest.mark.parametrize("place", PLACES)
def test_the_places_of_the_page_are_there(place):
    assert (REPOSITORY / place).exists()


@pytest.mark.parametrize("hook", sorted(set(re.findall(r"`(register_\w+)`", PAGE))))
def test_the_hooks_of_the_page_are_there(hook):
    assert hasattr(hookspecs, hook)


def test_tests_of_a_folder_are_in_the_folder_of_its_name():
    folders = {path.parent.name for path in (REPOSITORY / "audioclass").glob("*/__init__.py")}
    assert [name for name in sorted(folders) if not list((REPOSITORY / "tests" / name).glob("test_*.py"))] == []
