"""Small networks, written with onnx.helper."""

from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def save(path, nodes, inputs, outputs, initializers=(), number=TensorProto.FLOAT, **metadata):
    """Write a model of these nodes; inputs and outputs are name → shape, a text standing for any size."""
    given = [helper.make_tensor_value_info(name, number, shape) for name, shape in inputs.items()]
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()]
    graph = helper.make_graph(nodes, "network", given, made, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    helper.set_model_props(model, {name: str(value) for name, value in metadata.items()})
    onnx.save(model, str(path))
    return str(path)


def waveform(path, shape=("batch", "samples"), seed=0, **metadata):
    """|x| through a convolution of 64 samples with four filters, averaged over time: (batch, 4)."""
    filters = np.random.default_rng(seed).normal(size=(4, 1, 64)).astype(np.float32)
    nodes = [
        helper.make_node("Reshape", ["x", "as_channel"], ["channel"]),
        helper.make_node("Conv", ["channel", "filters"], ["filtered"], strides=[32]),
        helper.make_node("Abs", ["filtered"], ["size"]),
        helper.make_node("ReduceMean", ["size"], ["pooled"], axes=[2], keepdims=0),
    ]
    last = "pooled" if len(shape) > 1 else "vector"
    if len(shape) == 1:
        nodes.append(helper.make_node("Squeeze", ["pooled", "first"], ["vector"]))
    channel = [0, 1, -1] if len(shape) == 2 else [0, 0, -1] if len(shape) == 3 else [1, 1, -1]
    initializers = [constant("filters", filters), constant("as_channel", channel), constant("first", [0])]
    batch = ["batch", 4] if len(shape) > 1 else [4]
    return save(path, nodes, {"x": shape}, {last: batch}, initializers, **{"sample_rate": 8000, **metadata})


def log_mel(path, shape, bands=20, bands_first=False, **metadata):
    """Three weighted sums of the bands of each frame: the output has an axis of frames, (batch, frames, 3)."""
    weights = np.random.default_rng(1).normal(size=(bands, 3)).astype(np.float32)
    rank = len(shape)
    source, nodes = "x", []
    if bands_first:
        order = [*range(rank - 2), rank - 1, rank - 2]
        nodes.append(helper.make_node("Transpose", ["x"], ["turned"], perm=order))
        source = "turned"
    nodes.append(helper.make_node("MatMul", [source, "weights"], ["y"]))
    frames = [f"axis_{i}" for i in range(rank - 1)]
    metadata = {"form": "log_mel", "sample_rate": 8000, **metadata}
    return save(path, nodes, {"x": shape}, {"y": [*frames, 3]}, [constant("weights", weights)], **metadata)


@pytest.fixture
def networks():
    """The functions of this file: tests that lie in folders of plugins cannot import one another."""
    return SimpleNamespace(constant=constant, save=save, waveform=waveform, log_mel=log_mel)


@pytest.fixture
def path(tmp_path):
    """Where a network is written to; its name has a space and a letter that is not ASCII."""
    return tmp_path / "net work é.onnx"
