"""A network in an ONNX file: opened by its content, run one batch at a time; whatever is wrong with it is one line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.errors import ModelError, UsageError, unknown_name
from audioclass.recordings import not_endless

LARGEST = 2**31 - 1  # bytes that a file of this format can have
NUMBERS = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}


def checksum_of(path: str) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    try:
        with not_endless(Path(path)).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except UsageError:
        raise
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


@lru_cache(maxsize=8)
def open_network(path: str, checksum: str) -> Network:
    """The network of a file with this checksum; opened once in a process."""
    if Path(path).stat().st_size > LARGEST:
        raise ModelError(f"{path}: larger than an ONNX file can be")
    content = Path(path).read_bytes()
    if hashlib.sha256(content).hexdigest() != checksum:
        raise ModelError(f"{path}: changed while it was read")
    return Network.of(path, _session(path, content))


@dataclass(frozen=True, eq=False)
class Network:
    """A session with one input of numbers; `shape` of the input has None where any size goes.

    `outputs` are its outputs in order, `metadata` what the file says of itself.
    """

    path: str
    session: Any
    input: str
    number: type
    shape: tuple[int | None, ...]
    outputs: tuple[str, ...]
    metadata: Mapping[str, str]

    @classmethod
    def of(cls, path: str, session: Any) -> Network:
        """What a session says of itself, if it is a network that can be used."""
        try:  # names that are no text are found when they are read
            inputs = [(given.name, given.type, given.shape) for given in session.get_inputs()]
            outputs = tuple(output.name for output in session.get_outputs())
            metadata = dict(session.get_modelmeta().custom_metadata_map)
        except _failures() as error:
            raise ModelError(f"{path}: not a network that onnxruntime can open: {_one_line(error)}") from error
        if len(inputs) != 1 or not outputs:
            raise ModelError(
                f"{path}: a network of {len(inputs)} inputs and {len(outputs)} outputs, must have 1 and some"
            )
        [(name, number, sizes)] = inputs
        if number not in NUMBERS:
            raise ModelError(f"{path}: the input {name!r} is {number}, must be tensor(float)")
        shape = tuple(size if isinstance(size, int) and size > 0 else None for size in sizes)
        return cls(path, session, name, NUMBERS[number], shape, outputs, metadata)

    def output(self, name: str | None) -> str:
        """The output of a name, or the first."""
        if name is not None and name not in self.outputs:
            raise ModelError(f"{self.path}: {unknown_name('output', name, self.outputs)}")
        return self.outputs[0] if name is None else name

    def run(self, values: np.ndarray, output: str) -> np.ndarray:
        """What one output says of an input, as finite float32 numbers."""
        try:
            [result] = self.session.run([output], {self.input: values.astype(self.number)})
        except _failures() as error:
            raise ModelError(f"{self.path}: the network does not run: {_one_line(error)}") from error
        if not isinstance(result, np.ndarray) or result.dtype.kind not in "fiu" or not result.size:
            raise ModelError(f"{self.path}: the output {output!r} holds no numbers")
        if not np.isfinite(result).all():
            raise ModelError(f"{self.path}: the output {output!r} holds NaN or infinite values")
        return result.astype(np.float32)


def _session(path: str, content: bytes) -> Any:
    """A session on one core: recordings are worked on in parallel, not windows, and the same sums come out always."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"], enable_fallback=False)
    except _failures() as error:
        raise ModelError(f"{path}: not a network that onnxruntime can open: {_one_line(error)}") from error


def _failures() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: classes of its own that share no parent."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    classes = [value for value in vars(state).values() if isinstance(value, type) and issubclass(value, Exception)]
    return (*classes, RuntimeError, ValueError, TypeError)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:200] + "…"
