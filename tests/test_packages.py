from pathlib import Path

import pytest

from audioclass.errors import MissingPackage
from audioclass.packages import installed_file


def lay_out(folder: Path) -> None:
    """A distribution as pip lays it out; importing its package fails."""
    (folder / "weighty" / "weights").mkdir(parents=True)
    (folder / "weighty" / "__init__.py").write_text("raise ImportError('heavy')", encoding="utf-8")
    (folder / "weighty" / "weights" / "net.onnx").write_bytes(b"weights")
    (folder / "weighty-1.2.dist-info").mkdir()
    (folder / "weighty-1.2.dist-info" / "METADATA").write_text("Name: weighty\nVersion: 1.2\n", encoding="utf-8")


def test_a_file_is_found_without_importing_its_package(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_file("weighty", "weighty/weights/net.onnx", "x[y]").read_bytes() == b"weights"


def test_a_file_that_a_version_lacks_is_named_with_what_brings_it(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPackage, match=r"weighty 1\.2 has no file weighty/old\.onnx: pip install 'x\[y\]'"):
        installed_file("weighty", "weighty/old.onnx", "x[y]")


def test_a_distribution_that_is_missing_is_named_with_what_brings_it():
    with pytest.raises(MissingPackage, match=r"no-such-thing is not installed: pip install 'x\[y\]'") as raised:
        installed_file("no-such-thing", "a/b", "x[y]")
    assert raised.value.exit_code == 2
