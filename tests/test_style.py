import ast
import subprocess
import sys
import tomllib
from collections import defaultdict

import pytest
from environments import REPOSITORY

PACKAGE = sorted((REPOSITORY / "audioclass").rglob("*.py"))
PLUGINS = [path for path in sorted((REPOSITORY / "plugins").rglob("*.py")) if "tests" not in path.parts]
EMPTY_WORDS = {"said", "found", "made", "kept", "own", "way"}  # they tell where a value comes from, not what it is


def run(*arguments):
    return subprocess.run([sys.executable, "-m", *arguments], cwd=REPOSITORY, capture_output=True, text=True)


def place(path, node):
    return f"{path.relative_to(REPOSITORY)}:{node.lineno}"


def nodes(paths):
    return [(path, node) for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def name_of_value(node):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.arg if isinstance(node, ast.arg) else None


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=["lint", "format"])
def test_ruff_has_nothing_to_say(arguments):
    done = run("ruff", *arguments, "--no-cache", ".")
    assert done.returncode == 0, done.stdout


def test_mypy_has_nothing_to_say(tmp_path):
    done = run("mypy", "--cache-dir", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_is_shown_every_plugin():
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    shown = {path.parent for pattern in settings["files"] for path in REPOSITORY.glob(pattern)}
    assert [path for path in (REPOSITORY / "plugins").glob("*/") if path.is_dir() and path not in shown] == []


def test_packages_of_plugins_ship_their_types():
    packages = [path.parent for path in (REPOSITORY / "plugins").glob("*/audioclass_*/__init__.py")]
    assert [path.name for path in packages if not (path / "py.typed").exists()] == []


def test_a_name_of_a_class_has_one_meaning():
    places = defaultdict(list)
    for path, node in nodes(path for path in PACKAGE if "templates" not in path.parts):
        if isinstance(node, ast.ClassDef):
            places[node.name].append(place(path, node))
    assert {name: several for name, several in places.items() if len(several) > 1} == {}


def test_names_of_values_say_what_they_are():
    assert [place(path, node) for path, node in nodes([*PACKAGE, *PLUGINS]) if name_of_value(node) in EMPTY_WORDS] == []
