"""Examples in docstrings run, and print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import audioclass

ROOT = Path(audioclass.__file__).parent
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in sorted(ROOT.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_print_what_they_say(name):
    failed, n_examples = doctest.testmod(import_module(name))
    assert failed == 0
    assert n_examples > 0
