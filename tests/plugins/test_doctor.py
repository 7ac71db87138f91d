import pytest

from audioclass.plugins import doctor
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import write_manifest
from audioclass.plugins.sources import PluginSource

KERNEL = """
from audioclass import component, hookimpl

@component
class Lone:
    "Lonely."
    name = "lone"
    statistic = "dot"

    def of(self, S):
        return S.copy()

@hookimpl
def register_kernels():
    return [Lone]
"""


@pytest.fixture
def lone(monkeypatch, tmp_path):
    """A single installed distribution whose module holds the given code."""

    def make(code):
        (tmp_path / "lone.py").write_text(code, encoding="utf-8")
        info = tmp_path / "lone-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lone\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[audioclass]\nlone = lone\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(doctor, "select_installed", lambda: ([], []))
        monkeypatch.setattr(doctor, "builtin_source", lambda: PluginSource("lone", "1.0", ("lone",)))
        return doctor

    return make


def diagnose(lone, code, patience=60.0):
    [first, *_] = lone(code).diagnose(patience=patience).manager.quarantine
    return first


def test_a_plugin_that_kills_python_is_named(lone):
    ailing = diagnose(lone, "import os; os.abort()")
    assert "Python ended with -6 while importing it" in ailing.reason


def test_a_plugin_that_hangs_is_named(lone):
    assert diagnose(lone, "import time; time.sleep(60)", patience=1.0).reason == "still importing after 1 s"


def test_what_a_plugin_prints_does_not_hide_its_reason(lone):
    ailing = diagnose(lone, "import os; os.write(1, b'noise'); print('more'); raise OSError('no licence')")
    assert ailing.reason == "OSError: no licence"
    assert "lone.py" in ailing.traceback


def test_a_manifest_that_differs_from_its_class_is_named(lone, tmp_path, monkeypatch):
    lone(KERNEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    manifest = write_manifest(PluginManager([PluginSource("lone", "1.0", ("lone",))]).entries())
    (tmp_path / "lone-1.0.dist-info" / "audioclass-plugin.toml").write_text(manifest.replace("Lonely.", "Alone."))
    (tmp_path / "lone-1.0.dist-info" / "RECORD").write_text("lone-1.0.dist-info/audioclass-plugin.toml,,\n")
    diagnosis = doctor.diagnose()
    [outdated] = diagnosis.outdated
    assert outdated.reason == "kernel lone: summary is 'Alone.' in the manifest and 'Lonely.' in the class"
    assert "`audioclass plugins manifest` in the folder of lone" in outdated.remedy
    assert diagnosis.manager.quarantine == []


def test_works_are_listed_with_their_seconds():
    diagnosis = doctor.diagnose()
    assert diagnosis.manager.quarantine == []
    assert diagnosis.seconds["audioclass"] > 0
    assert {"gaussian", "chi2"} <= {entry.name for entry in diagnosis.manager.entries()}


def test_a_name_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "audioclass-chi3")
    diagnosis = doctor.diagnose()
    [ailing] = diagnosis.manager.quarantine
    assert ailing.reason == "asked for but not installed; did you mean 'audioclass-chi2'?"
    assert ailing.remedy == "pip install audioclass-chi3"
    assert [source.distribution for source in diagnosis.sources] == ["audioclass"]
