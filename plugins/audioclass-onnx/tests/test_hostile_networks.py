"""Files that are damaged, foreign or hostile: one line each."""

from pathlib import Path

import numpy as np
import pytest
from audioclass_onnx.embedding import Onnx
from onnx import TensorProto, helper

from audioclass.errors import AudioclassError, ModelError, UsageError

NOISE = 0.1 * np.random.default_rng(5).standard_normal((5, 8000)).astype(np.float32)


def embedded_or_reason(path):
    try:
        return Onnx(str(path), sample_rate=8000).embed(NOISE[0], 8000)
    except AudioclassError as error:
        return str(error)


def one_line(raised):
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, AudioclassError)


@pytest.mark.parametrize(
    "content", [b"", b"RIFF and so on " * 20, b"\x08\x01", bytes(2000)], ids=["empty", "text", "header", "zeros"]
)
def test_foreign_files_get_one_line(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelError, match="not a network that onnxruntime can open") as raised:
        Onnx(str(path), sample_rate=8000)
    one_line(raised)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_truncated_files_get_one_line(path, networks, share):
    content = Path(networks.waveform(path)).read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelError) as raised:
        Onnx(str(path), sample_rate=8000)
    one_line(raised)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_files_work_or_get_one_line(path, networks, seed):
    content = bytearray(Path(networks.waveform(path)).read_bytes())
    rng = np.random.default_rng(seed)
    for place in rng.integers(len(content), size=8):
        content[place] = rng.integers(256)
    path.write_bytes(bytes(content))
    said = embedded_or_reason(path)
    assert "\n" not in said if isinstance(said, str) else np.isfinite(said).all()


def test_no_such_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"nothing\.onnx: No such file"):
        Onnx(str(tmp_path / "nothing.onnx"))
    with pytest.raises(UsageError, match="Is a directory"):
        Onnx(str(tmp_path))
    with pytest.raises(UsageError, match="null"):
        Onnx("a\0b")


def test_a_file_without_a_sample_rate_asks_for_one(path, networks):
    nodes = [helper.make_node("ReduceMean", ["x"], ["mean"], axes=[1])]
    networks.save(path, nodes, {"x": ["batch", "samples"]}, {"mean": ["batch", 1]})
    with pytest.raises(UsageError, match="name no sample_rate; give one, such as sample_rate=16000"):
        Onnx(str(path))
    assert Onnx(str(path), sample_rate=8000).columns() == ["onnx_0"]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"sample_rate": "fast"}, "metadata: sample_rate='fast' must be an int"),
        ({"sample_rate": -8000}, "metadata: sample_rate=-8000 must be at least 1000"),
        ({"window": "nan"}, "metadata: window=nan must be finite"),
        ({"form": "picture"}, "metadata: unknown form 'picture'"),
        ({"output": "nowhere"}, "unknown output 'nowhere'"),
        ({"form": "log_mel"}, "neither metadata nor input name the number of bands"),
    ],
)
def test_metadata_that_are_wrong_are_named(path, networks, metadata, message):
    with pytest.raises(AudioclassError, match=message) as raised:
        Onnx(networks.waveform(path, **metadata))
    one_line(raised)


@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        ((1, 2, 3, 4), {}, "input of 4 axes, a waveform has 1 to 3"),
        (("batch", 2, "samples"), {}, "input of 2 channels, must have 1"),
        ((3, "samples"), {}, "input of 3 windows at a time"),
        (("batch", 4000), {"window": 1.0}, "takes 4000 samples, window=1 s has others"),
        (("batch", 30, 40), {"form": "log_mel", "bands": 20}, "has no axis of 20 bands"),
    ],
    ids=["axes", "channels", "batch", "window", "bands"],
)
def test_inputs_that_are_no_audio_are_named(path, networks, shape, given, message):
    networks.save(path, [helper.make_node("Identity", ["x"], ["y"])], {"x": shape}, {"y": shape}, sample_rate=8000)
    with pytest.raises(ModelError, match=message) as raised:
        Onnx(str(path), **given)
    one_line(raised)


def test_two_inputs_are_refused(path, networks):
    shape = ["batch", "samples"]
    networks.save(
        path, [helper.make_node("Add", ["a", "b"], ["y"])], {"a": shape, "b": shape}, {"y": shape}, sample_rate=8000
    )
    with pytest.raises(ModelError, match="a network of 2 inputs and 1 outputs, must have 1 and some"):
        Onnx(str(path))


def test_an_input_of_texts_is_refused(path, networks):
    nodes = [
        helper.make_node("Shape", ["x"], ["sizes"]),
        helper.make_node("Cast", ["sizes"], ["y"], to=TensorProto.FLOAT),
    ]
    networks.save(path, nodes, {"x": ["n"]}, {"y": [1]}, number=TensorProto.STRING, sample_rate=8000)
    with pytest.raises(ModelError, match=r"the input 'x' is tensor\(string\), must be tensor\(float\)"):
        Onnx(str(path))


def test_a_network_that_gives_nan_is_refused(path, networks):
    networks.save(
        path,
        [helper.make_node("Log", ["x"], ["y"])],
        {"x": ["b", "n"]},
        {"y": ["b", "n"]},
        sample_rate=8000,
        window=0.1,
    )
    with pytest.raises(ModelError, match="the output 'y' holds NaN or infinite values"):
        Onnx(str(path))


def test_a_network_that_does_not_run_is_refused(path, networks):
    shape = networks.constant("shape", [7, 7])
    networks.save(
        path,
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        {"x": ["b", "n"]},
        {"y": [7, 7]},
        [shape],
        sample_rate=8000,
    )
    with pytest.raises(ModelError, match="the network does not run") as raised:
        Onnx(str(path))
    one_line(raised)


def test_an_output_without_the_windows_is_refused(path, networks):
    nodes = [helper.make_node("ReduceMean", ["x"], ["y"], axes=[0, 1], keepdims=0)]
    networks.save(path, nodes, {"x": ["batch", "samples"]}, {"y": []}, sample_rate=8000)
    with pytest.raises(ModelError, match=r"output of shape \(\) for 1 windows"):
        Onnx(str(path))


def test_samples_that_are_no_window_are_refused(path, networks):
    embedding = Onnx(networks.waveform(path))
    with pytest.raises(ValueError, match="sample_rate=44100 must be 8000"):
        embedding.embed(NOISE[0], 44100)
    with pytest.raises(ValueError, match="must be mono and finite"):
        embedding.embed(NOISE, 8000)
