import pickle

import numpy as np
import pytest
from audioclass_onnx.embedding import Onnx, register_embeddings
from audioclass_onnx.inputs import Frames, cut, find_bands
from onnx import helper

from audioclass.data import Block, Features, Framing
from audioclass.errors import ModelError
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.parameters import make, parameter_values
from audioclass.testing import check_embedding

NOISE = 0.1 * np.random.default_rng(5).standard_normal((5, 8000)).astype(np.float32)


@pytest.mark.parametrize(
    "shape",
    [
        ("batch", "samples"),
        ("batch", 4000),
        (1, "samples"),
        ("batch", 1, "samples"),
        ("samples",),
        (2000,),
    ],
    ids=str,
)
def test_waveform_networks_keep_the_contract(path, networks, shape):
    check_embedding(Onnx(networks.waveform(path, shape)))


@pytest.mark.parametrize(
    ("shape", "bands_first"),
    [
        (("batch", "frames", 20), False),
        (("batch", 1, 20, "frames"), True),
        (("frames", 20), False),
        ((1, 30, 20), False),
    ],
    ids=str,
)
def test_log_mel_networks_keep_the_contract(path, networks, shape, bands_first):
    check_embedding(Onnx(networks.log_mel(path, shape, bands_first=bands_first, bands=20, metadata="none"), bands=20))


def test_it_is_offered():
    assert register_embeddings() == [Onnx]


# --- what is computed


def expected_of_waveform(samples, seed=0):
    """The network of `waveform`, in numpy."""
    filters = np.random.default_rng(seed).normal(size=(4, 1, 64)).astype(np.float32)[:, 0]
    frames = np.lib.stride_tricks.sliding_window_view(samples, 64)[::32]
    return np.abs(frames @ filters.T).mean(axis=0)


def test_a_waveform_goes_through_the_network(path, networks):
    vectors = Onnx(networks.waveform(path)).embed_many(NOISE, 8000)
    np.testing.assert_allclose(vectors, [expected_of_waveform(noise) for noise in NOISE], rtol=1e-4)


def test_log_mel_frames_are_those_of_audioclass(path, networks):
    embedding = Onnx(networks.log_mel(path, ("batch", "frames", 20), scale="natural", lowest=50))
    frames = Frames(Framing(8000, 200, 80), 20, 50.0, "natural").of(NOISE[0])
    weights = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32)
    np.testing.assert_allclose(embedding.embed(NOISE[0], 8000), (frames @ weights).mean(axis=0), rtol=1e-3)
    assert (embedding.frame_length, embedding.hop_length, embedding.bands) == (200, 80, 20)


def test_natural_logarithms_are_decibels_by_a_factor():
    framing = Framing(8000, 256, 128)
    decibel, natural = (Frames(framing, 10, 0.0, scale).of(NOISE[0]) for scale in ("decibel", "natural"))
    np.testing.assert_allclose(natural, decibel * np.log(10) / 10, rtol=1e-5)


def test_a_short_piece_is_one_frame():
    frames = Frames(Framing(8000, 256, 128), 10, 0.0, "decibel")
    assert frames.of(NOISE[0, :3]).shape == (1, 10)
    assert frames.n_samples(1) == 256
    assert frames.of(np.zeros(frames.n_samples(7), np.float32)).shape == (7, 10)


def test_a_fixed_window_is_averaged_over_the_audio(path, networks):
    embedding = Onnx(networks.waveform(path, ("batch", 3000)))
    assert embedding.window == 3000 / 8000
    parts = [NOISE[0, :3000], NOISE[0, 3000:6000], NOISE[0, 5000:]]
    expected = np.mean([expected_of_waveform(part) for part in parts], axis=0)
    np.testing.assert_allclose(embedding.embed(NOISE[0], 8000), expected, rtol=1e-4)


def test_windows_lie_side_by_side_and_end_with_the_samples():
    samples = np.arange(7.0)
    np.testing.assert_array_equal(cut(samples, 3), [[0, 1, 2], [3, 4, 5], [4, 5, 6]])
    np.testing.assert_array_equal(cut(samples, 7), [samples])
    np.testing.assert_array_equal(cut(samples, 9), [[*samples, 0, 0]])
    np.testing.assert_array_equal(cut(samples, None), [samples])


def test_batches_are_run_together(path, networks, monkeypatch):
    embedding = Onnx(networks.waveform(path))
    shapes = []
    run = type(embedding._network).run
    monkeypatch.setattr(
        type(embedding._network),
        "run",
        lambda self, values, output: shapes.append(values.shape) or run(self, values, output),
    )
    many = np.concatenate([NOISE] * 8)
    vectors = embedding.embed_many(many, 8000)
    assert shapes == [(32, 8000), (8, 8000)]
    np.testing.assert_allclose(vectors[:5], vectors[35:], rtol=1e-5)


@pytest.mark.parametrize(
    ("shape", "asked", "found"),
    [
        (("b", None, 20), None, (20, False)),
        ((None, 20, None), None, (20, True)),
        ((None, 30, 20), None, (None, False)),
        ((None, 30, 20), 20, (20, False)),
        ((None, 20, 30), 20, (20, True)),
        ((None, 20, 20), 20, (20, False)),
        ((None, None, None), 20, (20, False)),
        ((None, 20, None), 20, (20, True)),
        ((None,), None, (None, False)),
    ],
)
def test_the_axis_of_bands_is_found(shape, asked, found):
    assert find_bands(shape, asked) == found


def test_another_output_is_chosen_by_name(path, networks):
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[1]),
        helper.make_node("ReduceMax", ["x"], ["top"], axes=[1]),
    ]
    networks.save(
        path, nodes, {"x": ["batch", "samples"]}, {"mean": ["batch", 1], "top": ["batch", 1]}, sample_rate=8000
    )
    assert Onnx(str(path), output="top").embed(NOISE[0], 8000) == pytest.approx(NOISE[0].max())
    assert Onnx(str(path)).output == "mean"


# --- what the file says, and what the user says


def test_metadata_are_read_and_can_be_overruled(path, networks):
    networks.waveform(path, window=0.5)
    assert (Onnx(str(path)).sample_rate, Onnx(str(path)).window, Onnx(str(path)).form) == (8000, 0.5, "waveform")
    assert Onnx(str(path), sample_rate=16000, window=0.25).window == 0.25


def test_every_value_that_was_settled_is_a_parameter(path, networks):
    values = parameter_values(Onnx(networks.log_mel(path, ("batch", "frames", 20))))
    assert {name for name, value in values.items() if value is None} == {"window"}
    assert make(Onnx, values) == Onnx(str(path))


def recipe(path):
    table = {
        "sample_rate": 16000, "frame_length": 512, "hop_length": 160, "window": 1.0, "window_hop": 0.5,
        "parts": [{"group": "network", "embedding": {"name": "onnx", "path": str(path)}}],
    }  # fmt: skip
    return recipe_of_table(
        "embedded", table, lambda kind, name, values: make(Onnx, values), lambda kind, name: "onnx 1.0"
    )


def test_a_changed_file_changes_the_fingerprint_of_a_recipe(path, networks):
    networks.waveform(path)
    before = recipe(path)
    assert before.fingerprint == recipe(path).fingerprint
    networks.waveform(path, seed=1)
    assert recipe(path).fingerprint != before.fingerprint


def test_a_saved_recipe_refuses_another_file(path, networks):
    networks.waveform(path)
    saved = recipe(path).plain()
    networks.waveform(path, seed=1)
    with pytest.raises(ModelError, match=r"checksum .*…, must be .*…: another file"):
        recipe_of_table("saved", saved, lambda kind, name, values: make(Onnx, values), lambda kind, name: "onnx 1.0")


def test_a_recording_goes_through_the_network(path, networks):
    networks.waveform(path)
    samples = 0.1 * np.random.default_rng(0).standard_normal(3 * 16000).astype(np.float32)
    made = Features.joined(
        extract_features([Block(samples[:, None], 16000, 0)], recipe(path)), recipe(path).columns, recipe(path).groups
    )
    assert made.X.shape == (5, 4)
    assert made.columns == tuple(f"network.onnx_{i}" for i in range(4))


def test_it_goes_to_other_processes(path, networks):
    embedding = Onnx(networks.waveform(path))
    again = pickle.loads(pickle.dumps(embedding))
    np.testing.assert_array_equal(again.embed(NOISE[0], 8000), embedding.embed(NOISE[0], 8000))
