"""Every contract: a new plugin is written, installed with pip, tested by its own tests, and listed."""

import json

import pytest

from audioclass.errors import UsageError
from audioclass.hookspecs import KINDS
from audioclass.plugins.scaffold import write_plugin


def test_a_new_plugin_of_every_kind_installs_passes_its_tests_and_is_listed(environment, tmp_path, manager):
    folders = [write_plugin(f"new-{kind.replace('_', '-')}", kind, tmp_path / "made", manager) for kind in KINDS]
    environment.install(*folders)
    listed = json.loads(environment.run("audioclass", "plugins", "--json", check=True).stdout)
    places = {(offer["kind"], offer["name"]): f"{offer['distribution']} {offer['version']}" for offer in listed}
    for kind in KINDS:
        assert places[kind, f"new_{kind}"] == f"audioclass-new-{kind.replace('_', '-')} 0.1.0"
    tested = environment.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, folders), cwd=tmp_path)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert f"{2 * len(KINDS)} passed" in tested.stdout


@pytest.mark.parametrize("name", ["my-kernel", "my_kernel", "audioclass-my-kernel"])
def test_names_may_be_spelt_in_several_ways(tmp_path, manager, name):
    folder = write_plugin(name, "kernel", tmp_path, manager)
    assert folder == tmp_path / name
    assert (folder / "audioclass_my_kernel.py").is_file()
    assert 'name = "audioclass-my-kernel"' in (folder / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("my kernel", "kernel", "must be lower-case letters and digits in words joined by hyphens"),
        ("Größe", "kernel", "must be lower-case"),
        ("../x", "kernel", "must be lower-case"),
        ("class", "kernel", "must be lower-case"),
        ("", "kernel", "must be lower-case"),
        ("x", "kernl", "unknown kind 'kernl'; did you mean 'kernel'"),
        ("gaussian", "kernel", "the kernel 'gaussian' exists already: audioclass 0"),
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
