import subprocess
import sys

import pytest

from audioclass import __version__
from audioclass.cli import run
from audioclass.cli.commands import COMMANDS, load_command
from audioclass.testing.commands import INSIDE


def audioclass(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "audioclass", *arguments], capture_output=True, text=True, **options)


def imported_by(*arguments):
    """Names of the packages that a command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "audioclass", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}


@pytest.mark.parametrize("command", [["--help"], ["plugins"], ["plugins", "--help"], ["plugins", "show", "laplacian"]])
def test_help_and_listing_import_neither_numpy_nor_plugins(command):
    imported = imported_by(*command)
    assert "audioclass" in imported
    assert not imported & {"numpy", "scipy", "sklearn", "librosa", "audioclass_laplacian", "audioclass_chi2"}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_imports_neither_numpy_nor_what_the_command_does(name):
    code = f"import sys; from audioclass.cli import run; run([{name!r}, '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.splitlines()[-1].split())
    assert "audioclass.cli" in imported
    assert not imported & {"numpy", "rich", "audioclass.engine", "audioclass.cli.actions"}


def test_completion_imports_neither_numpy_nor_plugins():
    code = "import sys; from audioclass.cli import plugins; print(plugins._known_names('lap'), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['laplacian'] False\n"


def test_version_is_shown():
    assert audioclass("--version").stdout == f"audioclass {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plugin"], "no such command 'plugin'. Did you mean 'plugins'?"),
        (["--nothing"], "no such option: --nothing"),
        (["plugins", "--knd", "x"], "no such option: --knd"),
        (["plugins", "new", "x"], "missing option '--kind'"),
        (["plugins", "show"], "missing argument"),
        (["plugins", "--kind", "kernl"], "unknown kind 'kernl'; did you mean 'kernel'?"),
        (["plugins", "show", "gausian"], "unknown name 'gausian'; did you mean 'gaussian'?"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_two(capsys, arguments, message):
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("group", [[], ["index"], ["corpus"], ["model"], ["tree"]], ids=" ".join)
def test_a_group_of_commands_without_one_of_them_shows_its_help(group, capsys):
    assert run([*group, "--help"]) == 0
    shown = capsys.readouterr().out
    assert run(group) == 2
    assert capsys.readouterr() == ("", shown)


def test_help_shows_examples_and_exit_codes(capsys):
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:\n    audioclass classify talk.wav\n" in shown
    assert "0 done, 1 some of the work failed, 2 wrong use, 130 Ctrl-C, 143 SIGTERM" in " ".join(shown.split())


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m audioclass plugins --json | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


def test_a_terminal_without_our_letters_still_gets_the_rest():
    done = audioclass("plugins", "check", "linear", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert "\\u2713 K(X, X) is symmetric" in done.stdout


def test_a_warning_is_one_line():
    warn = "warnings.warn('scores tell nothing')"
    code = f"import warnings, audioclass.cli as cli; cli.run = lambda _: {warn} or 0; cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "warning: scores tell nothing\n"


def command_paths(path, command):
    """The words that lead to a command and to each below it."""
    yield path
    for name, inner in (getattr(command, "commands", None) or {}).items():
        yield from command_paths((*path, name), inner)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_shows_what_is_no_value(name, capsys):
    for path in command_paths((name,), load_command(name)):
        assert run([*path, "--help"]) == 0
        assert INSIDE.search(capsys.readouterr().out) is None, path
