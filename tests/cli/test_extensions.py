"""Commands of plugins, modules given with -p, and tracing."""

import subprocess
import sys

import pytest

from audioclass.cli import extensions, run
from audioclass.cli.commands import COMMANDS, load_command
from audioclass.hookspecs import OUR_COMMANDS
from audioclass.plugins.manager import plugin_manager
from audioclass.plugins.manifests import MANIFEST

MODULE = "audioclass.plugins.templates.command"
KERNEL = "audioclass.plugins.templates.kernel"


def test_names_of_our_commands_are_kept_from_plugins():
    assert sorted(OUR_COMMANDS) == sorted(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_list_says_what_the_help_of_a_command_begins_with(name):
    help_text = " ".join(load_command(name).help.split())
    assert help_text.startswith(COMMANDS[name][2].rstrip("."))


def test_a_command_of_a_plugin_is_listed_run_and_gone_afterwards(capsys, tmp_path):
    assert run(["-p", MODULE, "--help"]) == 0
    assert "example-name  Add up the durations of recordings." in capsys.readouterr().out
    assert run(["-p", MODULE, "example-name", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: audioclass example-name [OPTIONS] ")
    assert "completion" not in shown
    assert run(["example-name"]) == 2
    assert capsys.readouterr().err.startswith("no such command 'example-name'")


def test_a_plugin_is_used_by_name_without_being_installed(capsys):
    assert run(["-p", KERNEL, "plugins", "show", "example_name"]) == 0
    assert capsys.readouterr().out.startswith(f"example_name: kernel of {KERNEL} not installed")
    assert "example_name" not in {entry.name for entry in plugin_manager().entries()}


def test_several_modules_may_be_given(capsys):
    assert run(["-p", KERNEL, "-p", MODULE, "plugins", "show", "example_name"]) == 0
    assert {line.split()[1] for line in capsys.readouterr().out.splitlines() if line[0] != " "} == {"kernel", "command"}


def test_a_module_that_does_not_load_is_one_line(capsys):
    assert run(["-p", "no_such_module", "plugins"]) == 1
    assert capsys.readouterr().err == (
        "no_such_module: import: ModuleNotFoundError: No module named 'no_such_module'\n"
    )


def test_hooks_are_traced_on_standard_error_whatever_was_loaded_before(capsys):
    plugin_manager().load("kernel", "linear")
    assert run(["--trace-hooks", "plugins", "check", "linear"]) == 0
    captured = capsys.readouterr()
    assert "register_kernels of audioclass.kernels.linear: Linear\n" in captured.err
    assert "register_kernels" not in captured.out


def test_hooks_are_traced_by_the_environment(capsys, monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_TRACE", "1")
    assert run(["-p", KERNEL, "plugins", "show", "example_name"]) == 0
    assert capsys.readouterr().err == f"register_kernels of {KERNEL}: ExampleName\n"


@pytest.fixture
def installed(tmp_path):
    """A distribution with a command that is listed in its manifest and cannot be imported."""
    info = tmp_path / "ailing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ailing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[audioclass]\nailing = ailing\n")
    (info / "RECORD").write_text("ailing-1.0.dist-info/audioclass-plugin.toml,,\n")
    (info / "audioclass-plugin.toml").write_text(
        "schema = 2\napi = 1\n[[entries]]\nkind = 'command'\nname = 'ail'\nsummary = 'Ails.'\nmodule = 'ailing'\n"
    )
    (tmp_path / "ailing.py").write_text("raise RuntimeError('boom')\n")

    def audioclass(*arguments):
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from audioclass.cli import main; main()"
        return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)

    return audioclass


def test_a_command_is_listed_without_being_imported_and_quarantined_when_it_fails(installed):
    listed = installed("--help")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "ail        Ails." in listed.stdout
    assert "ail\tcommand\t\tAils.\tailing 1.0" in installed("plugins", "--kind", "command").stdout
    ran = installed("ail")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "command 'ail' of ailing 1.0 does not load: RuntimeError: boom\n"


def install(folder, name, manifest, monkeypatch):
    """Put the metadata of a distribution with a command into a folder of the path."""
    information = folder / f"audioclass_{name}-1.0.dist-info"
    information.mkdir()
    (information / "entry_points.txt").write_text(f"[audioclass]\n{name} = audioclass_{name}\n")
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: audioclass-{name}\nVersion: 1.0\n")
    if manifest is not None:
        (information / "audioclass-plugin.toml").write_text(manifest)
        (information / "RECORD").write_text(f"{information.name}/audioclass-plugin.toml,,\n")
    monkeypatch.syspath_prepend(str(folder))
    for variable in ("AUDIOCLASS_PLUGINS", "AUDIOCLASS_STRICT", "AUDIOCLASS_TRACE", "AUDIOCLASS_CACHE"):
        monkeypatch.delenv(variable, raising=False)


ENTRY = """schema = 2
api = 1
[[entries]]
kind = "command"
name = "{name}"
summary = "Count what there is."
module = "audioclass_{name}"
"""


def test_commands_are_listed_from_manifests_without_a_manager(tmp_path, monkeypatch):
    install(tmp_path, "tally_up", ENTRY.format(name="tally_up"), monkeypatch)
    assert extensions._listed_commands()["tally_up"] == "Count what there is."


def test_a_name_of_ours_is_not_listed_twice(tmp_path, monkeypatch):
    install(tmp_path, "tally", ENTRY.format(name="classify"), monkeypatch)
    assert "classify" not in (extensions._listed_commands() or {})


@pytest.mark.parametrize("manifest", [None, '"command"', '[[entries]]\nkind = "command"\n'])
def test_where_a_manifest_does_not_tell_the_manager_is_asked(tmp_path, monkeypatch, manifest):
    install(tmp_path, "tally", manifest, monkeypatch)
    assert extensions._listed_commands() is None


def test_a_restriction_of_plugins_is_left_to_the_manager(monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "")
    assert extensions._listed_commands() is None


def test_the_manifest_has_one_name():
    assert extensions.MANIFEST == MANIFEST


def test_a_module_that_is_not_installed_reaches_the_processes_of_a_command(small, tmp_path):
    module = tmp_path / "fading.py"
    module.write_text(
        "from audioclass import component, hookimpl, parameter\n"
        "@component\n"
        "class Fading:\n"
        "    '''A kernel.'''\n"
        "    name = 'fading'\n"
        "    statistic = 'squared_distance'\n"
        "    sigma: float = parameter(1.0, above=0.0)\n"
        "    def of(self, S):\n"
        "        return 1 / (1 + S / self.sigma**2)\n"
        "@hookimpl\n"
        "def register_kernels():\n"
        "    return [Fading]\n"
    )

    def audioclass(*arguments):
        command = [sys.executable, "-m", "audioclass", "-p", module, *arguments, "--jobs", "2"]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=tmp_path)

    options = (
        "--recipe",
        small / "small.toml",
        "--criterion",
        "fixed",
        "--kernel",
        "fading",
        "--cache",
        small / "cache",
    )
    trained = audioclass("train", small / "corpus", *options, "-o", "m.audioclass")
    assert trained.returncode == 0, trained.stderr
    classified = audioclass("classify", small / "corpus", "--model", "m.audioclass", "-o", "all.csv")
    assert classified.returncode == 0, classified.stderr
    assert classified.stderr.splitlines()[-1].startswith("18 of 18 recordings")
