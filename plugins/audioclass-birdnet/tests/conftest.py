"""A small network in TensorFlow's lite format: the absolute value of its input, then its negative as the output."""

from types import SimpleNamespace

import pytest

N_SAMPLES = 8


def write_network(path, n_samples=N_SAMPLES):
    """INPUT → inside = |INPUT| → Identity = −inside."""
    flatbuffers = pytest.importorskip("flatbuffers", reason="audioclass-birdnet[network] is not installed")
    schema = pytest.importorskip(
        "ai_edge_litert.schema_py_generated", reason="audioclass-birdnet[network] is not installed"
    )

    def tensor(name):
        made = schema.TensorT()
        made.name, made.shape, made.type, made.buffer = name, [1, n_samples], schema.TensorType.FLOAT32, 0
        return made

    def operator(code, given, result):
        made = schema.OperatorT()
        made.opcodeIndex, made.inputs, made.outputs = code, [given], [result]
        return made

    def operator_code(builtin):
        made = schema.OperatorCodeT()
        made.builtinCode = made.deprecatedBuiltinCode = builtin
        made.version = 1
        return made

    graph = schema.SubGraphT()
    graph.tensors = [tensor(name) for name in ("INPUT", "inside", "Identity")]
    graph.inputs, graph.outputs = [0], [2]
    graph.operators = [operator(0, 0, 1), operator(1, 1, 2)]
    model = schema.ModelT()
    model.version, model.subgraphs, model.buffers = 3, [graph], [schema.BufferT()]
    model.operatorCodes = [operator_code(schema.BuiltinOperator.ABS), operator_code(schema.BuiltinOperator.NEG)]
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return path


@pytest.fixture
def small():
    """The function of this file: tests that lie in folders of plugins cannot import one another."""
    return SimpleNamespace(write=write_network, n_samples=N_SAMPLES)
