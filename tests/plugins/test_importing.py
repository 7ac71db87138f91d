"""Plugins that harm at import: each is put in quarantine with its name, and nothing else is touched."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from environments import REPOSITORY

from audioclass import cli
from audioclass.errors import UsageError
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.importing import import_limit
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.sources import PluginSource


def put_aside(tmp_path, monkeypatch, code, name):
    """The quarantine after a distribution with this module was admitted."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    try:
        return PluginManager([builtin_source(), PluginSource(f"audioclass-{name}", "0.1", (name,))]).quarantine
    finally:
        sys.modules.pop(name, None)


HOSTILE = {
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "ends": ("raise BaseException('all over')", "BaseException: all over"),
    "exits": ("raise SystemExit(0)", "SystemExit: 0"),
    "generates": ("raise GeneratorExit", "GeneratorExit"),
    "mute": (
        "class Mute(Exception):\n    def __str__(self): raise SystemExit\n    __repr__ = __str__\nraise Mute",
        "Mute",
    ),
    "hooks": (
        "from audioclass import hookimpl\n@hookimpl\ndef register_kernels(): raise KeyboardInterrupt",
        "KeyboardInterrupt",
    ),
    "empty": (
        "from audioclass import hookimpl\n@hookimpl\ndef register_kernels(): return None",
        "hostile_empty offers nothing: no hook in it returned a class",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_is_raised_at_import_is_put_in_quarantine(name, tmp_path, monkeypatch):
    code, reason = HOSTILE[name]
    [quarantined] = put_aside(tmp_path, monkeypatch, code, f"hostile_{name}")
    assert quarantined.reason == reason
    assert quarantined.distribution == f"audioclass-hostile_{name}"


def test_one_that_sleeps_at_import_is_put_in_quarantine(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_IMPORT_SECONDS", "0.2")
    [quarantined] = put_aside(tmp_path, monkeypatch, "import time; time.sleep(100)", "sleeps")
    expected = "not imported after 0.2 s; AUDIOCLASS_IMPORT_SECONDS sets another limit"
    assert (quarantined.phase, quarantined.reason) == ("import", expected)


def test_one_that_catches_everything_it_may_is_ended_too(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_IMPORT_SECONDS", "0.2")
    code = "import time\ntry:\n    time.sleep(100)\nexcept Exception:\n    time.sleep(100)"
    assert len(put_aside(tmp_path, monkeypatch, code, "clings")) == 1


def test_outside_the_main_thread_a_line_says_who_is_slow(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIOCLASS_IMPORT_SECONDS", "0.1")
    code = f"import time\nfrom pathlib import Path\nwhile not Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.01)"
    thread = threading.Thread(target=put_aside, args=(tmp_path, monkeypatch, code, "slow"))
    thread.start()
    told = ""
    while not told:
        told = capsys.readouterr().err
    (tmp_path / "go").touch()
    thread.join()
    assert told == "audioclass-slow: not imported after 0.1 s, still waiting\n"


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_a_limit_that_is_no_time_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_IMPORT_SECONDS", text)
    with pytest.raises(UsageError, match=f"AUDIOCLASS_IMPORT_SECONDS='{text}' must be a number of seconds"):
        put_aside(tmp_path, monkeypatch, "", "quick")


def test_the_limit_is_what_the_page_on_plugins_says(monkeypatch):
    monkeypatch.delenv("AUDIOCLASS_IMPORT_SECONDS", raising=False)
    page = (REPOSITORY / "plugins" / "README.md").read_text(encoding="utf-8")
    assert f"An import may take {import_limit():.0f} seconds" in page
    monkeypatch.setenv("AUDIOCLASS_IMPORT_SECONDS", "0")  # for any time
    assert import_limit() == 0


def test_the_user_can_interrupt_an_import(tmp_path, monkeypatch):
    code = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)"
    with pytest.raises(KeyboardInterrupt):
        put_aside(tmp_path, monkeypatch, code, "interrupted")


def test_what_an_import_changes_for_all_is_changed_back(tmp_path, monkeypatch, capsys):
    code = "import sys, signal, numpy\nnumpy.seterr(all='raise')\nprint('noise')\nsys.stdout.close()\n"
    code += "signal.signal(signal.SIGINT, signal.SIG_IGN)\nsys.stdout = None"
    before = np.geterr(), sys.stdout
    [quarantined] = put_aside(tmp_path, monkeypatch, code, "rude")
    assert "offers nothing" in quarantined.reason
    assert (np.geterr(), sys.stdout) == before
    out, err = capsys.readouterr()
    assert (out, err) == ("", "noise\n")


def test_every_command_goes_on_where_a_plugin_sleeps_or_ends_python(tmp_path):
    """With the metadata of two installed distributions, in a process of its own."""
    for name, code in (("sleeps", "import time; time.sleep(100)"), ("ends", "raise KeyboardInterrupt")):
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        information = tmp_path / f"{name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[audioclass]\n{name} = {name}\n")
    path = f"{tmp_path}:{Path(cli.__file__).parents[2]}"
    done = subprocess.run(
        [sys.executable, "-m", "audioclass", "plugins", "--kind", "smoother"],
        capture_output=True, text=True, check=False, env={"PYTHONPATH": path, "AUDIOCLASS_IMPORT_SECONDS": "0.5"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "hmm" in done.stdout
    assert "in quarantine: " in done.stderr
    assert {"ends", "sleeps"} <= set(done.stderr.replace(",", "").replace(";", "").split())
