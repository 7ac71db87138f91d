"""What is read from source files without importing them is what importing them gives."""

import textwrap

import pytest

from audioclass.errors import PluginError
from audioclass.plugins.builtins import ROOT
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import read_manifest, sort_entries, write_builtin_manifest
from audioclass.plugins.sources import PluginSource
from audioclass.plugins.static import read_components

READ = sort_entries(read_components(ROOT, "audioclass", "1.0"))
IMPORTED = PluginManager([PluginSource("audioclass", "1.0", tuple(sorted({entry.module for entry in READ})))]).entries()
KERNEL = """
from typing import ClassVar
from audioclass import component, hookimpl, parameter

@component
class Own:
    "A kernel of its own."
    name: ClassVar[str] = "own"
    statistic: ClassVar[str] = "dot"
    sigma: float = 1.0

@hookimpl
def register_kernels():
    return [Own]
"""


@pytest.fixture
def package(tmp_path):
    """Writes files of a package and reads its components."""

    def read(**files):
        (tmp_path / "mine").mkdir(exist_ok=True)
        for name, code in files.items():
            (tmp_path / "mine" / f"{name}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        return read_components(tmp_path / "mine", "mine", "1.0")

    return read


@pytest.mark.parametrize("imported", IMPORTED, ids=[f"{entry.kind}-{entry.name}" for entry in IMPORTED])
def test_every_builtin_is_read_as_it_is_imported(imported):
    assert [entry for entry in READ if entry.key == imported.key] == [imported]


def test_no_builtin_is_missed():
    assert [entry.key for entry in READ] == [entry.key for entry in IMPORTED]


def test_the_manifest_of_the_builtins_reads_back():
    assert list(read_manifest(write_builtin_manifest(READ), "audioclass", "1.0")) == READ


def test_constants_of_other_files_are_followed(package):
    code = KERNEL.replace("sigma: float = 1.0", 'form: str = parameter("b", choices=(*tables.FORMS, "c"))')
    tables = "FORMS = {**{name: len for name in NAMES}, 'b': max}\nNAMES = ('a',)"
    [entry] = package(kernel=code.replace("@component", "from mine import tables\n\n@component"), tables=tables)
    [form] = entry.parameters
    assert (form.default, form.choices) == ("b", ("a", "b", "c"))


def test_what_a_class_extends_is_read_too(package):
    more = "\n@component\nclass More(Own):\n    name: ClassVar[str] = 'more'\n    low: int | None = None\n"
    more += "    form: Literal['a'] = 'a'\n"
    [_, more] = package(kernel=KERNEL.replace("\n@hookimpl", f"{more}\n@hookimpl").replace("[Own]", "[Own, More]"))
    assert (more.name, more.summary) == ("more", "A kernel of its own.")
    assert [(parameter.name, parameter.type) for parameter in more.parameters] == [
        ("sigma", "float"),
        ("low", "int?"),
        ("form", "str"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("= 1.0", "= compute()", r"kernel.py, line 10: compute\(\) cannot be read without importing it"),
        ("float", "dict", "line 10: the type dict cannot be read"),
        ('= "own"', "= NAME", "line 8: NAME cannot be read"),
        ("[Own]", "every()", "line 13: what register_kernels returns cannot be read"),
        ("[Own]", "[Other]", "line 14: the class Other cannot be read"),
        ("class Own:", "class Own(:", "kernel.py, line 6: "),
    ],
)
def test_what_only_running_would_tell_is_an_error_with_its_line(package, old, new, message):
    with pytest.raises(PluginError, match=message):
        package(kernel=KERNEL.replace(old, new))
