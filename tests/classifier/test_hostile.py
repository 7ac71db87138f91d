"""Model files that an enemy wrote: one line each, no code run, memory bounded."""

import io
import json
import pickle
import resource
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from audioclass.engine.models import load_model
from audioclass.errors import ModelError


class Boom:
    """Its pickle would leave a mark if it were ever opened."""

    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('boom').touch()",))


def members_of(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes], **options) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content, **options)
    return stream.getvalue()


def npy(array, allow_pickle=False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def header(text: str, body: bytes = b"") -> bytes:
    raw = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw + body


def with_array(name, content):
    return lambda members: zipped(members | {name: content})


def with_manifest(**changes):
    def change(members):
        manifest = json.loads(members["manifest.json"]) | changes
        return zipped(members | {"manifest.json": json.dumps(manifest).encode()})

    return change


def with_text(text: bytes):
    return lambda members: zipped(members | {"manifest.json": text})


def without(name):
    return lambda members: zipped({key: value for key, value in members.items() if key != name})


def changed(function):
    def change(members):
        manifest = json.loads(members["manifest.json"])
        function(manifest)
        return zipped(members | {"manifest.json": json.dumps(manifest).encode()})

    return change


def twice(members):
    content = zipped({**members, "manifest.jsom": b"{}"})
    return content.replace(b"manifest.jsom", b"manifest.json")


def encrypted(members):
    content = bytearray(zipped(members))
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1
    return bytes(content)


def lying_about_size(members):
    """The central directory says that a member is small; its data go on."""
    content = bytearray(zipped({**members, "bomb.npy": bytes(10_000_000)}))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 100)
    return bytes(content)


def kernel_named(name):
    return changed(lambda m: m["kernels"][0].update(name=name))


FLOAT = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000), }"
HOSTILE = {
    "empty": lambda members: b"",
    "text": lambda members: b"not a model\n",
    "pickle": lambda members: pickle.dumps(Boom()),
    "truncated": lambda members: zipped(members)[:-200],
    "half": lambda members: zipped(members)[: len(zipped(members)) // 2],
    "zip-of-nothing": lambda members: zipped({}),
    "no-manifest": without("manifest.json"),
    "manifest-not-json": with_text(b"{"),
    "manifest-not-utf8": with_text(b"\xff\xfe{}"),
    "manifest-a-list": with_text(b"[]"),
    "manifest-empty": with_text(b"{}"),
    "manifest-deep": with_text(b"[" * 100_000),
    "manifest-nan": with_text(b'{"format": NaN}'),
    "manifest-huge-number": with_manifest(schema=10**400),
    "other-format": with_manifest(format="other"),
    "newer-schema": with_manifest(schema=99),
    "schema-a-text": with_manifest(schema="1"),
    "labels-a-number": with_manifest(labels=3),
    "labels-unknown": with_manifest(labels=["a", "b", "c"]),
    "counts-negative": with_manifest(counts=[-1, 2, 3]),
    "sharpness-negative": with_manifest(sharpness=-1),
    "transitions-a-number": with_manifest(transitions=3),
    "transitions-ragged": with_manifest(transitions=[[1, 2, 3], [1, 2], 3]),
    "transitions-negative": with_manifest(transitions=[[1, 2, 3], [1, -2, 3], [0, 0, 0]]),
    "transitions-huge": with_manifest(transitions=[[10**400] * 3] * 3),
    "taxonomy-a-number": with_manifest(taxonomy=3),
    "taxonomy-of-others": with_manifest(taxonomy=[["a"], ["b", "c"]]),
    "about-a-list": with_manifest(about=[]),
    "report-of-texts": changed(lambda m: m["about"]["report"].update(grouped={"window": {"accuracy": "good"}})),
    "machines-of-others": changed(lambda m: m["about"]["machines"].pop()),
    "machine-without-kernel": changed(lambda m: m["about"]["machines"][0].pop("kernel")),
    "corpus-without-counts": changed(lambda m: m["about"]["corpus"].pop("recordings")),
    "calibrations-missing": with_manifest(calibrations=[]),
    "plan-out-of-range": changed(lambda m: m["plan"]["dichotomies"][0][0].append(99)),
    "recipe-unknown-component": changed(lambda m: m["recipe"]["parts"][0]["descriptors"][0].update(name="nothing")),
    "recipe-other-features": changed(lambda m: m["recipe"]["parts"].pop()),
    "unknown-kernel": kernel_named("os.system"),
    "kernel-parameter-wrong": changed(lambda m: m["kernels"][0]["parameters"].update(sigma=-1)),
    "unknown-plugin": changed(
        lambda m: m["about"]["pieces"].append(
            {"kind": "kernel", "name": "missing", "distribution": "audioclass-missing", "version": "1"}
        )
    ),
    "object-array": with_array("bank/rows.npy", npy(np.array([Boom()], object), allow_pickle=True)),
    "nan-array": with_array("bank/rows.npy", npy(np.full((4, 18), np.nan, np.float32))),
    "infinite-array": with_array("preparation/factors.npy", npy(np.full(18, np.inf, np.float32))),
    "complex-array": with_array("preparation/factors.npy", npy(np.ones(18, complex))),
    "wrong-shape": with_array("bank/rows.npy", npy(np.zeros((4, 3), np.float32))),
    "wrong-axes": with_array("bank/rows.npy", npy(np.zeros(4, np.float32))),
    "rows-out-of-range": with_array("bank/0/rows.npy", npy(np.array([10**9]))),
    "huge-declared-shape": with_array("bank/rows.npy", header(FLOAT)),
    "header-runs-code": with_array("bank/rows.npy", header("__import__('pathlib').Path('boom').touch()")),
    "header-not-a-table": with_array("bank/rows.npy", header("3")),
    "array-cut": lambda members: zipped(members | {"bank/rows.npy": members["bank/rows.npy"][:200]}),
    "array-of-text": with_array("bank/rows.npy", b"hello"),
    "path-outside": with_array("../../outside.npy", npy(np.zeros(1))),
    "path-absolute": with_array("/etc/outside.npy", npy(np.zeros(1))),
    "a-script": with_array("run.py", b"print('boom')"),
    "two-manifests": twice,
    "encrypted": encrypted,
    "size-that-lies": lying_about_size,
    "golden-of-other-shape": with_array("golden/posteriors.npy", npy(np.ones((1, 3)))),
    "memory-of-more": with_array("memory/times.npy", npy(np.zeros(3))),
    "bank-of-more": with_array("bank/0/widths.npy", npy(np.zeros(3))),
    "preprocessing-of-more": with_array("preparation/shifts.npy", npy(np.zeros(18))),
    "memory-of-other-length": with_array("memory/y.npy", npy(np.zeros(3, int))),
    "bank-missing": without("bank/rows.npy"),
    "preprocessing-missing": without("preparation/factors.npy"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_in_one_line(name, model_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "hostile.audioclass"
    path.write_bytes(HOSTILE[name](members_of(model_file)))
    with pytest.raises(ModelError, match=r"hostile\.audioclass: ") as caught:
        load_model(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert not (tmp_path / "boom").exists()


def test_there_are_enough_of_them():
    assert len(HOSTILE) >= 30


def test_what_is_missing_is_named_with_its_distribution(model_file, tmp_path):
    path = tmp_path / "m.audioclass"
    path.write_bytes(HOSTILE["unknown-plugin"](members_of(model_file)))
    with pytest.raises(ModelError, match="needs the kernel 'missing' of audioclass-missing; pip install audioclass-m"):
        load_model(path)


BOUNDED = """
import resource, sys
from audioclass.engine.models import load_model
from audioclass.errors import ModelError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    load_model(sys.argv[1])
except ModelError as error:
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(after - before)
"""


def test_a_zip_bomb_takes_no_memory(model_file, tmp_path):
    path = tmp_path / "bomb.audioclass"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members_of(model_file).items():
            archive.writestr(name, content)
        with archive.open("bank/bomb.npy", "w", force_zip64=True) as stream:
            for _ in range(40):
                stream.write(bytes(2**26))
    assert path.stat().st_size < 2**23
    grown = subprocess.run([sys.executable, "-c", BOUNDED, path], check=True, capture_output=True, text=True).stdout
    assert int(grown) / 1024 < 300  # megabytes, where the bomb holds 2560
    assert resource.RUSAGE_SELF == 0
