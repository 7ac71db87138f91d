import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import audioclass


@pytest.mark.parametrize("name", audioclass.__all__)
def test_every_public_name_can_be_used(name):
    home = import_module(f"audioclass.{audioclass._HOMES[name]}")
    assert getattr(audioclass, name) is getattr(home, name)


def test_lists_of_public_names_agree():
    tree = ast.parse(Path(audioclass.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name for node in block.body for alias in node.names}
    assert typed == set(audioclass.__all__) == set(audioclass._HOMES)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        audioclass.nothing  # noqa: B018


def test_public_names_are_listed():
    assert set(audioclass.__all__) <= set(dir(audioclass))


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, audioclass; audioclass.hookimpl; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
