"""Model files that an enemy wrote: one line each, no code run, memory bounded."""

import io
import json
import pickle
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from archives import members_of, npy, sealed, zipped
from runs import recipe

from audioclass.engine.models import load_model
from audioclass.errors import ModelError, UsageError


class Boom:
    """Its pickle would leave a mark if it were ever opened."""

    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('boom').touch()",))


def header(text: str, body: bytes = b"") -> bytes:
    raw = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw + body


def with_array(name, content):
    return lambda members: zipped(sealed(members | {name: content}))


def with_manifest(**changes):
    def change(members):
        manifest = json.loads(members["manifest.json"]) | changes
        return zipped(sealed(members | {"manifest.json": json.dumps(manifest).encode()}))

    return change


def with_text(text: bytes):
    return lambda members: zipped(sealed(members | {"manifest.json": text}))


def without(name):
    return lambda members: zipped(sealed({key: value for key, value in members.items() if key != name}))


def changed(function):
    def change(members):
        manifest = json.loads(members["manifest.json"])
        function(manifest)
        return zipped(sealed(members | {"manifest.json": json.dumps(manifest).encode()}))

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
    "group-weights-of-texts": changed(lambda m: m["about"].update(group_weights={"weights": {"mel": "much"}})),
    "near-duplicates-of-texts": changed(lambda m: m["about"].update(near_duplicates={"share": "many"})),
    "machines-of-others": changed(lambda m: m["about"]["machines"].pop()),
    "machine-without-kernel": changed(lambda m: m["about"]["machines"][0].pop("kernel")),
    "corpus-without-counts": changed(lambda m: m["about"]["corpus"].pop("recordings")),
    "calibrations-missing": with_manifest(calibrations=[]),
    "plan-out-of-range": changed(lambda m: m["plan"]["dichotomies"][0][0].append(99)),
    "recipe-unknown-component": changed(lambda m: m["recipe"]["parts"][0]["descriptors"][0].update(name="nothing")),
    "recipe-other-features": changed(lambda m: m["recipe"]["parts"].pop()),
    "unknown-kernel": kernel_named("os.system"),
    "kernel-parameter-wrong": changed(lambda m: m["kernels"][0]["parameters"].update(sigma=-1)),
    "aliases-no-table": changed(lambda m: m.update(group_aliases=["a"])),
    "aliases-beyond": changed(lambda m: m.update(group_aliases={"a": 10**6})),
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
    "array-cut": lambda members: with_array("bank/rows.npy", members["bank/rows.npy"][:200])(members),
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


MEASURED = """
import pathlib, resource, sys
from audioclass.cli import run
code = run(sys.argv[1:])
most, status = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, pathlib.Path("/proc/self/status")
if status.exists():  # the other figure counts what the parent held when it started us
    most = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
print("code", code, "megabytes", most // 1024, file=sys.stderr)
"""
MOST_MEGABYTES = 500


def refused_in_bounds(*arguments) -> str:
    """What a command says of a file that it refuses, in a process that stays below 500 MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, arguments)], check=True, capture_output=True, text=True
    )
    *message, figures = done.stderr.splitlines()
    _, code, _, megabytes = figures.split()
    assert int(code) in (1, 2)
    assert int(megabytes) < MOST_MEGABYTES
    assert len(message) == 1
    return message[0]


def test_an_array_that_no_model_has_takes_no_memory(model_file, tmp_path):
    """A third of a gigabyte of zeros in two megabytes: as it is read, and once more to see that it ends there."""
    path = tmp_path / "bomb.audioclass"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members_of(model_file).items():
            archive.writestr(name, content)
        with archive.open("bank/bomb.npy", "w", force_zip64=True) as stream:
            stream.write(header("{'descr': '<f4', 'fortran_order': False, 'shape': (80, 1048576), }"))
            for _ in range(5):
                stream.write(bytes(2**26))
    assert path.stat().st_size < 2**22
    assert "its arrays would take more than 256 MB" in refused_in_bounds("model", "verify", path)


def test_a_manifest_of_empty_lists_takes_no_memory(model_file, tmp_path):
    """Thirty megabytes of `[],` in seventy kilobytes."""
    path = tmp_path / "lists.audioclass"
    text = b'{"format": [' + b"[]," * 10_000_000 + b"0]}"
    path.write_bytes(zipped(sealed(members_of(model_file) | {"manifest.json": text})))
    assert "at most 16777216 are read" in refused_in_bounds("model", "show", path)
    text = b'{"format": [' + b"[]," * 5_000_000 + b"0]}"
    path.write_bytes(zipped(sealed(members_of(model_file) | {"manifest.json": text})))
    assert "about 10000003 values" in refused_in_bounds("model", "show", path)


def of_many_labels(n_labels, strategy):
    """As many labels as are read, and a plan of three dichotomies."""

    def change(manifest):
        labels = [f"label{i}" for i in range(n_labels)]
        sides = [list(range(n_labels // 2)), list(range(n_labels // 2, n_labels))]
        manifest |= {"labels": labels, "paths": [[label] for label in labels], "counts": [3] * n_labels}
        manifest["strategy"] = {"name": strategy, "parameters": {}}
        manifest["plan"]["dichotomies"] = [sides] * len(manifest["plan"]["dichotomies"])
        manifest["about"]["machines"] = []

    def of(members):
        n = len(np.load(io.BytesIO(members["golden/features.npy"])))
        return changed(change)(members | {"golden/posteriors.npy": npy(np.full((n, n_labels), 1 / n_labels))})

    return of


@pytest.mark.parametrize(("n_labels", "strategy"), [(4000, "one_vs_one"), (2000, "output_code"), (5000, "one_vs_rest")])
def test_labels_that_no_plan_tells_apart_take_no_memory(n_labels, strategy, model_file, tmp_path):
    path = tmp_path / "labels.audioclass"
    path.write_bytes(of_many_labels(n_labels, strategy)(members_of(model_file)))
    assert len(refused_in_bounds("model", "verify", path)) < 500


LARGE_RECIPES = {
    "frame_length": 2**24,
    "sample_rate": 1e9,
    "hop_length": 1,
    "window": 1e12,
    "window_hop": 1e-9,
}


@pytest.mark.parametrize(("key", "value"), LARGE_RECIPES.items())
def test_a_recipe_out_of_range_takes_no_memory(key, value, model_file, small, tmp_path):
    path = tmp_path / "large.audioclass"
    path.write_bytes(changed(lambda m: m["recipe"].update({key: value}))(members_of(model_file)))
    with pytest.raises(ModelError, match="large.audioclass: "):
        load_model(path)
    text = "\n".join(
        f"{key} = {value:.0f}" if line.startswith(f"{key} =") else line
        for line in (small / "small.toml").read_text().splitlines()
    )
    (tmp_path / "large.toml").write_text(text)
    with pytest.raises(UsageError, match="recipe large: "):
        recipe(str(tmp_path / "large.toml"))


def test_the_largest_of_them_in_a_process_of_its_own(model_file, small, tmp_path):
    path = tmp_path / "large.audioclass"
    path.write_bytes(changed(lambda m: m["recipe"].update(frame_length=2**24))(members_of(model_file)))
    assert "frame_length=16777216 must be at most 16384" in refused_in_bounds("model", "verify", path)
    (tmp_path / "large.toml").write_text((small / "small.toml").read_text().replace("= 8000", "= 1_000_000_000"))
    said = refused_in_bounds("extract", small / "corpus", "--recipe", tmp_path / "large.toml", "-o", "-", "--no-cache")
    assert "recipe large: sample_rate=1000000000 must be at most 768000" in said


def test_a_list_of_members_without_end_takes_no_memory(model_file, tmp_path):
    path = tmp_path / "many.audioclass"
    content = zipped({"manifest.json": b"{}"})
    start, end = content.index(b"PK\x01\x02"), len(content) - 22
    n_members = 800_000
    sizes = struct.pack("<LL", n_members * (end - start), start)
    path.write_bytes(content[:start] + content[start:end] * n_members + content[end:-10] + sizes + b"\0\0")
    assert "its list of members takes" in refused_in_bounds("model", "show", path)


def test_a_pipe_is_not_waited_for(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe.audioclass")
    with pytest.raises(ModelError, match=r"pipe\.audioclass: not a regular file, must be a model file"):
        load_model(tmp_path / "pipe.audioclass")
