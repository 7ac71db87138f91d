"""The descriptors of our recipes the usual way: one librosa call for each, numpy and scipy for what librosa lacks."""

import warnings
from itertools import pairwise
from pathlib import Path

import librosa
import numpy as np
import scipy.stats


def extract(path: Path, recipe) -> list[np.ndarray]:
    """Features of every window of a recording; values differ from ours in detail, the work is the same."""
    samples, rate = librosa.load(path, sr=recipe.framing.sample_rate, res_type="soxr_hq")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tracks = _tracks(samples, rate, recipe)
        length, hop = recipe.windows.length, recipe.windows.hop
        starts = range(0, max(1, tracks["mel"].shape[1] - length + 1), hop)
        pool = _environment if recipe.name == "environment22" else _broadcast
        return [pool({name: track[:, start : start + length] for name, track in tracks.items()}) for start in starts]


def _tracks(samples: np.ndarray, rate: int, recipe) -> dict[str, np.ndarray]:
    frame, hop = recipe.framing.frame_length, recipe.framing.hop_length
    bands = 64 if recipe.name == "environment22" else 40
    cut = {"n_fft": frame, "hop_length": hop}
    feature = librosa.feature
    mel = librosa.power_to_db(feature.melspectrogram(y=samples, sr=rate, n_mels=bands, **cut))
    mfcc = feature.mfcc(y=samples, sr=rate, n_mfcc=20, n_mels=bands, **cut)
    shape = [
        feature.rms(y=samples, frame_length=frame, hop_length=hop),
        feature.zero_crossing_rate(samples, frame_length=frame, hop_length=hop),
        feature.spectral_centroid(y=samples, sr=rate, **cut),
        feature.spectral_bandwidth(y=samples, sr=rate, **cut),
        feature.spectral_flatness(y=samples, **cut),
        feature.spectral_contrast(y=samples, sr=rate, n_bands=5, **cut),
        *(feature.spectral_rolloff(y=samples, sr=rate, roll_percent=q, **cut) for q in (0.25, 0.5, 0.75, 0.85, 0.95)),
        _pitch_strength(samples, rate, frame, hop),
        _without_a_call(np.abs(librosa.stft(samples, **cut)), rate, frame),
    ]
    tracks = {"mel": mel, "mfcc": mfcc, "shape": np.concatenate([row[:, : mel.shape[1]] for row in shape])}
    if recipe.name == "broadcast":
        tracks["chroma"] = feature.chroma_stft(y=samples, sr=rate, **cut)
        tracks["mfcc"] = np.concatenate([mfcc, feature.delta(mfcc), feature.delta(mfcc, order=2)])
    return tracks


def _pitch_strength(samples: np.ndarray, rate: int, frame: int, hop: int) -> np.ndarray:
    frames = librosa.util.frame(np.pad(samples, frame // 2), frame_length=frame, hop_length=hop)
    lags = librosa.autocorrelate(frames * np.hanning(frame)[:, None], max_size=frame // 2, axis=0)
    return (lags / (lags[:1] + 1e-10))[rate // 600 :].max(axis=0, keepdims=True)


def _without_a_call(magnitude: np.ndarray, rate: int, frame: int) -> np.ndarray:
    """Skewness, kurtosis, slope, flux, flatness and crest per octave, irregularity."""
    power = magnitude**2
    bins = np.arange(len(power))[:, None]
    total = power.sum(axis=0) + 1e-10
    centroid = (bins * power).sum(axis=0) / total
    spread = np.sqrt(((bins - centroid) ** 2 * power).sum(axis=0) / total) + 1e-3
    moments = [((bins - centroid) ** k * power).sum(axis=0) / total / spread**k for k in (3, 4)]
    slope = ((bins - bins.mean()) * magnitude).sum(axis=0) / total
    flux = np.abs(np.diff(magnitude / (magnitude.sum(axis=0) + 1e-10), axis=1, prepend=0)).sum(axis=0)
    irregularity = (np.diff(magnitude, axis=0) ** 2).sum(axis=0) / total
    edges = [0, *(round(250 * 2**k * frame / rate) for k in range(6) if 250 * 2**k < 0.45 * rate), len(power)]
    octaves = list(pairwise(edges))
    flatness = [librosa.feature.spectral_flatness(S=magnitude[low:high])[0] for low, high in octaves]
    crest = [power[low:high].max(axis=0) / (power[low:high].mean(axis=0) + 1e-10) for low, high in octaves]
    return np.stack([*moments, slope, flux, irregularity, *flatness, *crest])


def _statistics(track: np.ndarray) -> np.ndarray:
    moments = [
        track.mean(axis=1),
        track.std(axis=1),
        scipy.stats.skew(track, axis=1),
        scipy.stats.kurtosis(track, axis=1),
    ]
    return np.concatenate(
        [*moments, track.min(axis=1), track.max(axis=1), *np.percentile(track, (10, 25, 50, 75, 90), axis=1)]
    )


def _environment(window: dict[str, np.ndarray]) -> np.ndarray:
    mel, mfcc, shape = window["mel"], window["mfcc"], window["shape"]
    first = librosa.feature.delta(mfcc)
    change = np.diff(mel, axis=1)
    parts = [_statistics(t) for t in (mel, mfcc, first, librosa.feature.delta(mfcc, order=2))]
    parts += [_statistics(t) for t in (shape, librosa.feature.delta(shape), change, np.maximum(change, 0))]
    parts += [np.abs(np.fft.rfft(mel - mel.mean(axis=1, keepdims=True), axis=1)).mean(axis=0)]
    parts += [librosa.autocorrelate(mel.mean(axis=0)), np.cov(mfcc).ravel(), np.cov(first).ravel()]
    parts += [part.mean(axis=1) for part in np.array_split(mfcc, 5, axis=1)]
    parts += [part.std(axis=1) for part in np.array_split(mfcc, 8, axis=1)]
    parts += [np.abs(np.fft.rfft2(mel[:, i : i + 64])).ravel() for i in range(0, max(1, mel.shape[1] - 63), 32)]
    return np.concatenate(parts)


def _broadcast(window: dict[str, np.ndarray]) -> np.ndarray:
    tracks = np.concatenate([window["mfcc"], window["shape"], window["chroma"]])
    change = np.abs(np.diff(tracks, axis=1)).mean(axis=1)
    modulation = np.abs(np.fft.rfft(window["mel"], axis=1)).mean(axis=0)
    return np.concatenate(
        [tracks.mean(axis=1), tracks.std(axis=1), scipy.stats.skew(tracks, axis=1), change, modulation]
    )
