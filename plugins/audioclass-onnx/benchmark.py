"""What the embedding adds to the cost of its network: windows a second, one by one and together, beside onnxruntime.

The network is made here: three convolutions over the waveform, 0.3 million multiplications a millisecond of audio. The
data folder is not read. Keys: one_by_one, together, onnxruntime (windows a second), together_over_onnxruntime.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import bench
import numpy as np
import onnx
from audioclass_onnx.embedding import Onnx
from onnx import TensorProto, helper, numpy_helper

RATE = 16000


def write_network(path: Path) -> None:
    """Convolutions of 64, 128 and 256 channels with strides 160, 2 and 2, averaged over time."""
    rng = np.random.default_rng(0)
    sizes = [(64, 1, 400), (128, 64, 3), (256, 128, 3)]
    weights = [
        numpy_helper.from_array((rng.normal(size=s) / s[1] / s[2]).astype(np.float32), f"w{i}")
        for i, s in enumerate(sizes)
    ]
    nodes = [helper.make_node("Unsqueeze", ["x", "one"], ["h0"])]
    for i, stride in enumerate((160, 2, 2)):
        nodes.append(helper.make_node("Conv", [f"h{i}", f"w{i}"], [f"c{i}"], strides=[stride]))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"h{i + 1}"]))
    nodes.append(helper.make_node("ReduceMean", ["h3"], ["y"], axes=[2], keepdims=0))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "samples"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 256])]
    constants = [*weights, numpy_helper.from_array(np.array([1]), "one")]
    graph = helper.make_graph(nodes, "network", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    helper.set_model_props(model, {"sample_rate": str(RATE)})
    onnx.save(model, str(path))


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], needs_data=False)
    n_windows = 32 if asked.quick else 256
    windows = 0.1 * np.random.default_rng(0).standard_normal((n_windows, RATE)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.onnx")
        write_network(path)
        embedding = Onnx(str(path))
    session = embedding._network.session
    seconds = bench.interleaved(
        3,
        one_by_one=lambda: [embedding.embed(window, RATE) for window in windows],
        together=lambda: embedding.embed_many(windows, RATE),
        onnxruntime=lambda: [session.run(None, {"x": windows[i : i + 32]}) for i in range(0, n_windows, 32)],
    )
    rates = {name: n_windows / min(taken) for name, taken in seconds.items()}
    ratio = bench.median_ratio(seconds["together"], seconds["onnxruntime"])
    rows = [("way", "windows a second"), *((name, round(rate)) for name, rate in rates.items())]
    bench.report(
        rates | {"together_over_onnxruntime": ratio}, [*rows, ("together over onnxruntime", ratio)], asked.json
    )


if __name__ == "__main__":
    main()
