"""The suffix of an output tells the format, from the manifests alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from audioclass.cli import run
from audioclass.cli.exporting import name_by_suffix, output_format
from audioclass.errors import UsageError
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.sources import PluginSource

FORMAT = """
from audioclass import component, hookimpl

@component
class Format:
    '''A format.'''
    name = "{name}"
    suffix = "{suffix}"
    carries_probabilities = False

    def write(self, result, stream): ...

@hookimpl
def register_formats():
    return [Format]
"""
STATED = """
schema = 2
api = 1

[[entries]]
kind = "format"
name = "{name}"
summary = "A format."
module = "audioclass_{name}"
"""


@pytest.fixture
def manager_with(tmp_path, monkeypatch):
    """A manager of the built-ins and formats of third parties, as name=suffix; their manifests state no suffix."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(**formats):
        sources = [builtin_source()]
        for name, suffix in formats.items():
            (tmp_path / f"audioclass_{name}.py").write_text(FORMAT.format(name=name, suffix=suffix), encoding="utf-8")
            monkeypatch.delitem(sys.modules, f"audioclass_{name}", raising=False)
            modules = (f"audioclass_{name}",)
            sources.append(PluginSource(f"audioclass-{name}", "1.0", modules, STATED.format(name=name)))
        return PluginManager(sources)

    return make


@pytest.mark.parametrize(
    ("output", "name"),
    [("a.csv", "csv"), ("a.TEXTGRID", "textgrid"), ("a.txt", "audacity"), ("a.selections.txt", "raven")],
)
def test_the_longest_suffix_tells_the_format(manager, output, name):
    assert name_by_suffix(Path(output), manager) == name


def test_an_unknown_suffix_gets_the_known_ones(manager):
    with pytest.raises(
        UsageError, match=r"a\.xyz: the suffix does not tell the format; name it with --format: audacity"
    ):
        name_by_suffix(Path("a.xyz"), manager)


def test_a_third_party_is_asked_where_its_manifest_states_no_suffix(manager_with):
    assert name_by_suffix(Path("a.mine"), manager_with(mine=".mine")) == "mine"


def test_a_third_party_with_the_suffix_of_a_builtin_is_named(manager_with, capsys):
    assert name_by_suffix(Path("a.csv"), manager_with(mine=".csv")) == "csv"
    assert capsys.readouterr().err == (
        "a.csv: csv of audioclass and mine of audioclass-mine have the suffix .csv; written as csv, another is chosen "
        "with --format\n"
    )


def test_two_third_parties_with_one_suffix_must_be_told_apart(manager_with):
    manager = manager_with(mine=".x", yours=".x")
    with pytest.raises(
        UsageError,
        match=r"a\.x: mine of audioclass-mine and yours of audioclass-yours have the suffix \.x; choose one with",
    ):
        name_by_suffix(Path("a.x"), manager)


def test_a_third_party_that_does_not_load_is_no_hindrance(manager_with, tmp_path):
    manager = manager_with(mine=".mine")
    (tmp_path / "audioclass_mine.py").write_text("import nothing_of_this_name")
    assert name_by_suffix(Path("a.csv"), manager) == "csv"


def test_choosing_a_format_imports_it_alone():
    code = (
        "import sys; from pathlib import Path; from audioclass.cli.exporting import output_format;"
        "output_format(None, Path('a.rttm'));"
        "print(*sorted(name for name in sys.modules if name.startswith('audioclass.formats.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["audioclass.formats.rows", "audioclass.formats.rttm", "audioclass.formats.texts"]


def test_a_format_takes_parameters():
    assert output_format("raven:high=4000", None).high == 4000
    assert output_format(":high=4000", Path("a.selections.txt")) == output_format("raven:high=4000,column=", None)
    assert output_format("csv:formulas=escape,column=species", Path("a.txt")).column == "species"
    with pytest.raises(UsageError, match=r"unknown parameter of raven 'hihg'; did you mean 'high'\?"):
        output_format("raven:hihg=4000", None)
    with pytest.raises(UsageError, match="raven: high=-1.0 must be"):
        output_format("raven:high=-1", None)
    with pytest.raises(UsageError, match="unknown format 'ravn'; did you mean 'raven'"):
        output_format("ravn:high=1", None)


def test_parameters_reach_the_file(small, model_file, capsys):
    recording = str(small / "corpus" / "tone" / "tone-0.wav")
    for text, edge in (("raven", "4000.0"), ("raven:high=3000", "3000.0")):  # it has 8000 samples a second
        assert run(["classify", recording, "-m", str(model_file), "-f", text]) == 0
        assert capsys.readouterr().out.splitlines()[1].split("\t")[6] == edge
