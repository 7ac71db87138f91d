"""Learnt local patches: how much of each of some hundred learnt shapes of log-mel a window holds, and where.

The window is an image of bands by frames. Small patches of it, each by itself free of level and contrast, are whitened
and compared with atoms that were learnt from training recordings; what exceeds a threshold is averaged over regions of
frequency and slices of time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from audioclass.contracts import Arrays, Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks

PATCHES_TOGETHER = 640  # whose codes stay in the processor's cache until they are added up
SMALLEST = 1e-12


@component
class Patches:
    """Mean and deviation of the codes of learnt patches in regions of frequency, and how strong each atom becomes.

    The code of a patch y is max(0, y·z − threshold) for each atom z, where y is whitened and |z| = 1.
    """

    name: ClassVar[str] = "patches"
    bands: int = parameter(64, low=1, high=512, help="bands of frequency, merged from the descriptor's")
    merge_frames: int = parameter(2, low=1, high=64, help="frames of the descriptor that are merged to one")
    height: int = parameter(16, low=1, high=64, help="bands of a patch")
    width: int = parameter(16, low=1, high=64, help="merged frames of a patch")
    step_bands: int = parameter(4, low=1, high=64, help="bands between patches")
    step_frames: int = parameter(2, low=1, high=64, help="merged frames between patches")
    components: int = parameter(48, low=1, high=512, help="principal components that are whitened")
    atoms: int = parameter(256, low=1, high=2048, help="learnt shapes")
    regions: int = parameter(4, low=1, high=32, help="regions of frequency")
    slices: int = parameter(1, low=1, high=32, help="slices of time, each with means of its own")
    threshold: float = parameter(1.0, low=0.0, help="what a code must exceed")
    depth: float = parameter(60.0, above=0.0, help="decibels kept below the window's loudest value")
    active: float = parameter(
        0.0, low=0.0, help="decibels below the loudest at which sound begins and ends; 0 takes all of the window"
    )
    contrast: float = parameter(10.0, above=0.0, help="added to the variance of a patch, in squared decibels")
    samples: int = parameter(60, low=1, high=10_000, help="patches of each training window that are learnt from")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each atom in each slice and region, then its deviation in each region, then its peak."""
        places = [f"mean_{part}_{region}" for part in range(self.slices) for region in range(self.regions)]
        places += [f"deviation_{region}" for region in range(self.regions)] + ["peak"]
        shape = f"patch_{self.height}x{self.width}"
        return [f"{shape}_{place}_{atom}" for place in places for atom in range(self.atoms)]

    def fit(self, windows: Iterable[np.ndarray], frame_rate: float, rng: np.random.Generator) -> Arrays:
        """Whitening and atoms from patches at random places."""
        images = (self._image(self._levels(window[None])[0][self._part(window)]) for window in windows)
        patches = np.concatenate([self._sampled(image, rng) for image in images]).astype(np.float64)
        patches -= patches.mean(axis=1, keepdims=True)
        patches /= np.sqrt((patches * patches).mean(axis=1, keepdims=True) + self.contrast)
        whitening, centre = learn_whitening(patches, self.components)
        atoms = learn_atoms(patches @ whitening - centre, self.atoms, rng)
        return {name: each.astype(np.float32) for name, each in zip(LEARNT, (whitening, centre, atoms), strict=True)}

    def pool(self, windows: np.ndarray, frame_rate: float, fitted: Arrays) -> np.ndarray:
        """A window shorter than a patch is continued at the lowest level."""
        coder = self._coder(fitted, min(self.height, self.bands, windows.shape[2]))
        levels = self._levels(windows)
        images = [self._image(each[self._part(window)]) for each, window in zip(levels, windows, strict=True)]
        if len({len(image) for image in images}) == 1:
            return self._pooled(np.stack(images), coder)
        rows = [np.empty((0, (self.regions * (self.slices + 1) + 1) * self.atoms), np.float32)]
        return np.concatenate([*rows, *(self._pooled(image[None], coder) for image in images)])

    def _levels(self, windows: np.ndarray) -> np.ndarray:
        return tracks.merge_bands(tracks.level_free(windows, self.depth), self.bands)

    def _part(self, window: np.ndarray) -> slice:
        """The frames of a window, (n_frames, d), that count."""
        return tracks.sounding(window, self.active) if self.active else slice(None)

    def _image(self, levels: np.ndarray) -> np.ndarray:
        """(n_frames, bands) with frames merged, at least as long as a patch."""
        levels = np.array(levels, np.float32, order="C")  # so that its sums do not hang on where it lay in memory
        together = min(self.merge_frames, len(levels))
        n_frames = len(levels) // together
        if together > 1:
            levels = levels[: n_frames * together].reshape(n_frames, together, -1).mean(axis=1)
        missing = self.width - n_frames
        return levels if missing <= 0 else np.pad(levels, ((0, missing), (0, 0)), constant_values=-self.depth)

    def _strips(self, image: np.ndarray) -> np.ndarray:
        """(n_bands, n_times, width · height): a view of every patch, each whole in memory."""
        height = min(self.height, image.shape[1])
        views = _stretches(image, height, self.step_bands)
        strips = np.array(views.transpose(1, 0, 2), order="C").reshape(views.shape[1], -1)
        return _stretches(strips, self.width * height, self.step_frames * height)

    def _scales(self, images: np.ndarray) -> np.ndarray:
        """(n_windows, n_bands, n_times): one over the root of the variance of each patch and the contrast."""
        _, n_frames, n_rows = images.shape
        height, values = min(self.height, n_rows), images.transpose(0, 2, 1).astype(np.float64)
        columns = _boxes(n_rows, height, self.step_bands) @ np.stack([values, values * values])
        mean, square = columns @ _boxes(n_frames, self.width, self.step_frames).T / (self.width * height)
        return np.asarray(1 / np.sqrt(np.maximum(square - mean * mean, 0) + self.contrast), np.float32)

    def _sampled(self, image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        patches = self._strips(image)
        n_bands, n_times, _ = patches.shape
        chosen = rng.choice(n_bands * n_times, min(self.samples, n_bands * n_times), replace=False)
        return np.asarray(patches[chosen // n_times, chosen % n_times])

    def _coder(self, fitted: Arrays, height: int) -> Coder:
        known = next((coder for coder in tuple(_CODERS) if coder.is_of(self, fitted, height)), None)
        if known is None:
            known = self._checked_coder(fitted, height)
            _CODERS.append(known)
        return known

    def _checked_coder(self, fitted: Arrays, height: int) -> Coder:
        if set(fitted) != set(LEARNT):
            raise ValueError(f"patches: what was learnt is {', '.join(sorted(fitted))}, must be {', '.join(LEARNT)}")
        whitening, centre, atoms = (np.asarray(fitted[name]) for name in LEARNT)
        size, n_components = self.width * height, len(centre) if centre.ndim == 1 else 0
        expected = ((size, n_components), (n_components,), (n_components, self.atoms))
        for name, array, shape in zip(LEARNT, (whitening, centre, atoms), expected, strict=True):
            if array.shape != shape or not n_components or array.dtype.kind != "f":
                raise ValueError(f"patches: {name} has shape {array.shape}, must have {shape} for patches of {size}")
            if not np.isfinite(array).all():
                raise ValueError(f"patches: {name} holds NaN or infinite values")
        level_free = whitening.astype(np.float64) - whitening.mean(axis=0, dtype=np.float64)
        subtracted = -(centre @ atoms) - np.float32(self.threshold)
        rows = np.concatenate([atoms, subtracted[None]]).astype(np.float32)
        return Coder(level_free.astype(np.float32), rows, self, dict(fitted), height)

    def _pooled(self, images: np.ndarray, coder: Coder) -> np.ndarray:
        """(n_windows, n_features) of images of one length."""
        scales = self._scales(images)
        n_windows, n_bands, n_times = scales.shape
        regions = _shares(n_bands, self.regions)
        peak = np.empty((n_windows, n_times, self.atoms), np.float32)
        means = np.empty((n_windows, self.regions, n_times, self.atoms), np.float32)
        for i, image in enumerate(images):
            self._add_up(self._strips(image), scales[i], peak[i], means[i], regions, coder)
        means /= np.array([len(bands) for bands in regions], np.float32)[:, None, None]
        over_time = [means[:, :, times.start : times.stop].mean(axis=2) for times in _shares(n_times, self.slices)]
        moving = means - means.mean(axis=2, keepdims=True)
        deviation = np.sqrt((moving * moving).mean(axis=2))
        highest = tracks.percentiles(peak, [95.0])[0]
        return np.concatenate([each.reshape(n_windows, -1) for each in (*over_time, deviation, highest)], axis=1)

    def _add_up(
        self,
        patches: np.ndarray,
        scales: np.ndarray,
        peak: np.ndarray,
        sums: np.ndarray,
        regions: Sequence[range],
        coder: Coder,
    ) -> None:
        """The highest code of each atom over all bands, and the sums over regions, at each time of one window."""
        n_bands, n_times, _ = patches.shape
        together = max(1, PATCHES_TOGETHER // n_bands)
        for first in range(0, n_times, together):
            some = slice(first, first + together)
            codes = coder.codes(np.array(patches[:, some], order="C"), scales[:, some])
            np.maximum.reduce(codes, axis=0, out=peak[some])
            for total, bands in zip(sums, regions, strict=True):
                np.add.reduce(codes[bands.start : bands.stop], axis=0, out=total[some])


LEARNT = ("whitening", "centre", "atoms")


@dataclass(frozen=True, eq=False)
class Coder:
    """Patches to codes by two matrix products: whitening, then atoms with all that is subtracted in their last row.

    The columns of the whitening sum to 0, so that the level of a patch does not count.
    """

    whitening: np.ndarray
    atoms: np.ndarray
    pooling: Patches
    fitted: Arrays
    height: int

    def is_of(self, pooling: Patches, fitted: Arrays, height: int) -> bool:
        """Whether it was made of these very arrays, which nobody can have changed since."""
        return (
            (self.pooling, self.height) == (pooling, height)
            and self.fitted.keys() == fitted.keys()
            and all(fitted[name] is array and not array.flags.writeable for name, array in self.fitted.items())
        )

    def codes(self, patches: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """(n_bands, n_times, n_atoms) of (n_bands, n_times, size) patches and what takes out the contrast of each."""
        n_bands, n_times, size = patches.shape
        whitened = np.empty((n_bands * n_times, len(self.atoms)), np.float32)
        responses = patches.reshape(-1, size) @ self.whitening
        np.multiply(responses, scales.reshape(-1, 1), out=whitened[:, :-1])
        whitened[:, -1] = 1
        codes: np.ndarray = whitened @ self.atoms
        np.maximum(codes, 0, out=codes)
        return codes.reshape(n_bands, n_times, codes.shape[1])


_CODERS: deque[Coder] = deque(maxlen=8)  # of the last windows that were pooled


@lru_cache(maxsize=64)
def _boxes(count: int, length: int, step: int) -> np.ndarray:
    """(n_places, count): 1 where a stretch of so many of the first whole numbers lies, one every `step`."""
    at = np.arange(count) - np.arange(0, count - length + 1, step)[:, None]
    return ((at >= 0) & (at < length)).astype(np.float64)


def _stretches(values: np.ndarray, length: int, step: int) -> np.ndarray:
    """(n, n_places, length): a view of every stretch of rows that are whole in memory, one each `step`."""
    n_rows, n_columns = values.shape
    row, column = values.strides
    shape = (n_rows, (n_columns - length) // step + 1, length)
    return np.ndarray(shape, values.dtype, values, strides=(row, step * column, column))  # as_strided, at less cost


@lru_cache(maxsize=64)
def _shares(count: int, parts: int) -> tuple[range, ...]:
    """So many parts of the first whole numbers, as equal as can be; of fewer numbers than parts some stand twice."""
    edges = np.linspace(0, count, parts + 1).round().astype(int).tolist()
    starts = [min(first, count - 1) for first in edges[:-1]]
    return tuple(range(start, max(last, start + 1)) for start, last in zip(starts, edges[1:], strict=True))


def learn_whitening(patches: np.ndarray, n_components: int, floor: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """W (size, k) and c (k,), so that x W − c has principal components of about unit variance.

    `floor` of the mean variance of a patch's values is added to each: what hardly varies is noise that is not to be
    blown up.
    """
    mean = patches.mean(axis=0)
    moving = patches - mean
    variances, vectors = np.linalg.eigh(moving.T @ moving / len(patches))
    least = floor * variances.mean() + SMALLEST
    variances, vectors = np.maximum(variances[::-1][:n_components], 0), vectors[:, ::-1][:, :n_components]
    whitening = vectors / np.sqrt(variances + least)
    return whitening, mean @ whitening


def learn_atoms(whitened: np.ndarray, n_atoms: int, rng: np.random.Generator, rounds: int = 8) -> np.ndarray:
    """(k, n_atoms) unit vectors by spherical k-means over rows above the 20th percentile of norm.

    A cluster that lost all its rows begins anew at a random one.
    """
    norms = np.linalg.norm(whitened, axis=1)
    is_strong = norms >= np.percentile(norms, 20)
    rows = whitened[is_strong] / np.maximum(norms[is_strong, None], SMALLEST)
    atoms = rows[rng.choice(len(rows), n_atoms, replace=len(rows) < n_atoms)]
    for _ in range(rounds):
        nearest = (rows @ atoms.T).argmax(axis=1)
        sums = np.zeros_like(atoms)
        np.add.at(sums, nearest, rows)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        fresh = rows[rng.choice(len(rows), n_atoms)]
        atoms = np.where(lengths > SMALLEST, sums / np.maximum(lengths, SMALLEST), fresh)
    return np.ascontiguousarray(atoms.T)


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Learnt patches."""
    return [Patches]
