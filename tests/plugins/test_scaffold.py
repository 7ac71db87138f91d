"""Every contract: a new plugin is written, installed with pip, tested by its own tests, and listed."""

import json
import tomllib

import pytest

from audioclass.errors import UsageError
from audioclass.hookspecs import KINDS
from audioclass.plugins.scaffold import write_plugin


def test_a_new_plugin_of_every_kind_installs_passes_its_tests_and_is_listed(environment, tmp_path, manager):
    folders = [write_plugin(f"new-{kind.replace('_', '-')}", kind, tmp_path / "made", manager) for kind in KINDS]
    environment.install(*folders)
    listed = json.loads(environment.run("audioclass", "plugins", "--json", check=True).stdout)["components"]
    places = {(entry["kind"], entry["name"]): f"{entry['distribution']} {entry['version']}" for entry in listed}
    for kind in KINDS:
        assert places[kind, f"new_{kind}"] == f"audioclass-new-{kind.replace('_', '-')} 0.1.0"
    tested = environment.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, folders), cwd=tmp_path)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert f"{2 * len(KINDS)} passed" in tested.stdout


def test_what_an_author_needs_to_publish_is_written(tmp_path, manager):
    folder = write_plugin("h6-direct_strategy", "kernel", tmp_path, manager)
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        ".github/workflows/test.yml",
        ".gitignore",
        "LICENSE",
        "README.md",
        "audioclass_h6_direct_strategy/__init__.py",
        "audioclass_h6_direct_strategy/audioclass-plugin.toml",
        "audioclass_h6_direct_strategy/py.typed",
        "pyproject.toml",
        "tests/test_h6_direct_strategy.py",
    ]
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == ["audioclass>=0.1,<0.2"]
    assert (project["license"], project["name"]) == ("MIT", "audioclass-h6-direct-strategy")
    assert "EXAMPLE" not in "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ["my-kernel", "my_kernel", "audioclass-my-kernel", "My_Kernel", "my.kernel"])
def test_names_may_be_spelt_in_several_ways(tmp_path, manager, name):
    folder = write_plugin(name, "kernel", tmp_path, manager)
    assert folder == tmp_path / name
    assert (folder / "audioclass_my_kernel" / "__init__.py").is_file()
    assert 'name = "audioclass-my-kernel"' in (folder / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("my kernel", "kernel", "must be letters and digits in words joined by hyphens"),
        ("Größe", "kernel", "must be letters and digits"),
        ("../x", "kernel", "must be letters and digits"),
        ("class", "kernel", "must be letters and digits"),
        ("", "kernel", "must be letters and digits"),
        ("x", "kernl", "unknown kind 'kernl'; did you mean 'kernel'"),
        ("gaussian", "kernel", "the kernel 'gaussian' exists already: it comes from audioclass 0"),
        ("there", "kernel", "there exists already; nothing was written"),
    ],
)
def test_wrong_names_are_refused_and_nothing_is_written(tmp_path, manager, name, kind, message):
    (tmp_path / "there").mkdir()
    with pytest.raises(UsageError, match=message):
        write_plugin(name, kind, tmp_path, manager)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, manager):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_plugin("x", "kernel", tmp_path / "file", manager)
