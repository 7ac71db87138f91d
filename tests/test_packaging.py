"""What is published: the sdist passes its own tests, the wheel carries the terms of what is inside."""

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from environments import REPOSITORY, make_environment

PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def build(source: Path, target: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """The source tree as it comes out of the sdist."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build(REPOSITORY, "sdist", folder / "built")) as archive:
        archive.extractall(folder, filter="data")
    [tree] = folder.glob("audioclass-*")
    return tree


@pytest.fixture(scope="module")
def wheel(unpacked, tmp_path_factory):
    """The wheel that is built from the unpacked sdist."""
    with zipfile.ZipFile(build(unpacked, "wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel) -> Message:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


def test_the_readme_test_passes_from_the_sdist(unpacked, tmp_path):
    environment = make_environment(tmp_path / "environment", unpacked)
    # -P: the installed package is imported, not the folder beside the tests
    command = ("python", "-P", "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", "tests/test_readme.py")
    done = environment.run(*command, cwd=unpacked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout


@pytest.mark.skipif(not (REPOSITORY / ".git").exists() or not shutil.which("git"), reason="no git checkout")
def test_the_sdist_has_every_file_of_the_repository(unpacked):
    done = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    listed = [name for name in done.stdout.splitlines() if (REPOSITORY / name).exists()]
    assert [name for name in listed if not (unpacked / name).exists()] == []


def test_the_wheel_holds_the_terms_of_the_model(wheel):
    for name in ("broadcast.audioclass", "broadcast.md", "broadcast.sources.md", "MODEL-LICENSE.md"):
        assert wheel.read(f"audioclass/models/{name}") == (REPOSITORY / "audioclass" / "models" / name).read_bytes()


def test_the_wheel_holds_the_licence_of_the_code_and_that_of_the_model(wheel, metadata):
    assert metadata["License-Expression"] == "MIT AND LicenseRef-audioclass-model"
    assert metadata.get_all("License-File") == ["LICENSE", "audioclass/models/MODEL-LICENSE.md"]
    for name in metadata.get_all("License-File"):
        [held] = [held for held in wheel.namelist() if held.endswith(f".dist-info/licenses/{name}")]
        assert wheel.read(held) == (REPOSITORY / name).read_bytes()


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert {name.split("/")[0].rpartition(".")[2] for name in wheel.namelist()} == {"audioclass", "dist-info"}


def test_the_metadata_say_by_whom_and_for_which_python(metadata):
    assert metadata["Author"] == "The audioclass authors"
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"pandas", "parquet", "test", "video"} <= set(metadata.get_all("Provides-Extra"))


def test_this_python_is_one_that_the_metadata_claim():
    claimed = [name.rpartition(" ")[2] for name in PYPROJECT["project"]["classifiers"] if ":: 3." in name]
    assert "{}.{}".format(*sys.version_info) in claimed


def test_the_citation_says_what_the_metadata_say(metadata):
    cited = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    assert f"  - name: {metadata['Author']}\n" in cited
    assert f"\nversion: {metadata['Version']}\n" in cited
