"""What a model knows of what it does not know: novelty of sounds that it never heard, and sets of labels at a risk.

A model of two folds of the 40 labels of ESC-50 that are not in ESC-10, for each of the three folds; the third is what
it must not find strange. Strange are spoken digits, synthesised music, tones, noise and clipped signals; where the data
hold a folder `audio/music`, its recordings too. None of these is among the sounds that a training imagines.
Keys: auc_KIND, the area under the ROC curve against held-out clips; found_KIND, the share that is unknown at 0.01;
false_unknown, that of held-out clips; coverage and size of the sets at a risk of 0.05, and `curve` at others; coverage
of the groups, of the worst label, and `labels`, coverage and size of each; `node_curve`, the same as `curve` for sets
that are nodes of a tree; `folds`, what was measured in each.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bench
import music
import numpy as np
import soundfile
from scipy.stats import rankdata

from audioclass.classifier.risk import members_of
from audioclass.engine.runs import make_run
from audioclass.engine.training import train
from audioclass.recordings import find_recordings

RATE, SECONDS = 44100, 5
N = RATE * SECONDS
LEVEL, RISK = 0.01, 0.05
CURVE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
COUNT = 40  # sounds of each kind
T = np.arange(N) / RATE


def tone(rng: np.random.Generator, n: int = 1) -> np.ndarray:
    """So many steady sines."""
    frequencies = np.exp(rng.uniform(np.log(80), np.log(10000), n))
    return sum(rng.uniform(0.3, 1) * np.sin(2 * np.pi * f * T + rng.uniform(0, 6)) for f in frequencies)


def sweep(rng: np.random.Generator) -> np.ndarray:
    ends = np.exp(rng.uniform(np.log(80), np.log(10000), 2))
    return np.sin(2 * np.pi * np.cumsum(np.geomspace(*ends, N)) / RATE)


def pink(rng: np.random.Generator) -> np.ndarray:
    spectrum = np.fft.rfft(rng.standard_normal(N))
    return np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), N)


def melody(rng: np.random.Generator) -> np.ndarray:
    """One voice of notes."""
    samples, pitch, at, timbre = np.zeros(N + 8 * RATE), int(rng.integers(50, 75)), 0.0, _timbre(rng)
    while at < SECONDS:
        pitch, seconds = pitch + int(rng.integers(-4, 5)), float(rng.choice([0.15, 0.25, 0.5, 0.75]))
        _add(samples, music.note(pitch, 2 * seconds, timbre), at)
        at += seconds
    return samples[:N]


def drums_and_bass(rng: np.random.Generator) -> np.ndarray:
    """A beat in eighths, with a bass on most of them."""
    samples, beat, timbre = np.zeros(N + 8 * RATE), 30 / rng.uniform(80, 150), _timbre(rng)
    for i in range(int(SECONDS / beat)):
        shares = {"kick": 0.1 if i % 2 else 0.6, "snare": 0.8 if i % 4 == 2 else 0.05, "hat": 0.8}
        for kind, share in shares.items():
            if rng.random() < share:
                _add(samples, music.drum(kind, rng), i * beat)
        if rng.random() < 0.6:
            _add(samples, 0.5 * music.note(int(rng.integers(28, 45)), 2 * beat, timbre), i * beat)
    return samples[:N]


def band(rng: np.random.Generator) -> np.ndarray:
    """A progression with bass, melody and drums."""
    mode, tempo = ("major", "minor")[rng.integers(2)], music.TEMPI[rng.integers(4)]
    return music.clip(mode, int(rng.integers(12)), tempo, rng)


def _timbre(rng: np.random.Generator) -> dict:
    return {
        "decay": rng.uniform(0.3, 0.75),
        "phases": rng.uniform(0, 2 * np.pi, 8),
        "fall": rng.uniform(0.5, 4),
        "attack": rng.uniform(0.003, 0.05),
    }


def _add(samples: np.ndarray, sound: np.ndarray, at: float) -> None:
    first = int(at * RATE)
    samples[first : first + len(sound)] += sound


def clipped(samples: np.ndarray, gain: float) -> np.ndarray:
    return np.clip(gain * samples / np.abs(samples).max(), -1, 1)


SYNTHESISED = {
    "tones": lambda rng: tone(rng, int(rng.integers(1, 4))),
    "sweeps": sweep,
    "white_noise": lambda rng: rng.standard_normal(N),
    "pink_noise": pink,
    "clipped_tones": lambda rng: clipped(tone(rng, 2), 10),
    "clipped_noise": lambda rng: clipped(pink(rng), 10),
    "music_band": band,
    "music_melody": melody,
    "music_drums": drums_and_bass,
}


def strange_files(data: Path, place: Path, quick: bool) -> dict[str, list[Path]]:
    """The recordings of every kind; those that are made stand in a folder that is gone afterwards."""
    rng, count = np.random.default_rng(0), 10 if quick else COUNT
    music.RATE, music.SECONDS = RATE, SECONDS
    files = {
        kind: [_written(place / kind, i, draw(rng), rng) for i in range(count)] for kind, draw in SYNTHESISED.items()
    }
    sources = list(recordings_of(data / "audio" / "esc10"))[:: 20 if quick else 5]
    for gain in (4, 10, 30):
        kind = f"clipped_{gain}_times"
        files[kind] = [_written(place / kind, i, clipped(_mono(path), gain), rng) for i, path in enumerate(sources)]
    files["other_labels"] = sources
    files["digits"] = list(recordings_of(data / "audio" / "fsdd"))[:: 150 if quick else 30]
    if (data / "audio" / "music").is_dir():
        files["music_recorded"] = find_recordings([data / "audio" / "music"])
    return files


def recordings_of(folder: Path) -> Iterator[Path]:
    with (folder / "segments.csv").open(encoding="utf-8") as file:
        yield from (folder / row["file"] for row in csv.DictReader(file))


def _corpus_of(rows: list[dict[str, str]], folder: Path, place: Path) -> Path:
    """A corpus of some of the clips of another, whose recordings it shares."""
    place.mkdir()
    (place / "audio").symlink_to((folder / "audio").resolve())
    with (place / "segments.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, ["file", "label", "group"], extrasaction="ignore")
        lines.writeheader()
        lines.writerows(rows)
    return place


def _mono(path: Path) -> np.ndarray:
    samples, _ = soundfile.read(path, always_2d=True)
    return samples.mean(axis=1)


def _written(folder: Path, number: int, samples: np.ndarray, rng: np.random.Generator) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:03}.wav"
    soundfile.write(path, samples / np.abs(samples).max() * rng.uniform(0.1, 0.95), RATE, subtype="FLOAT")
    return path


def area(usual: np.ndarray, strange: np.ndarray) -> float:
    """Under the ROC curve: how often a strange clip is stranger than a usual one, ties by half."""
    ranks = rankdata(np.concatenate([usual, strange]))[len(usual) :]
    return float((ranks.sum() - len(strange) * (len(strange) + 1) / 2) / (len(usual) * len(strange)))


class Fold:
    """A model of all folds but one, with all defaults, at work on that one and on what is strange."""

    def __init__(self, data: Path, fold: str, place: Path) -> None:
        folder = data / "audio" / "esc40"
        with (folder / "segments.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        known, new = ([row for row in rows if (row["fold"] == fold) == is_new] for is_new in (False, True))
        self.model = train(_corpus_of(known, folder, place / f"without {fold}"), run=make_run()).model
        self.y = np.array([self.model.labels.index(row["label"]) for row in new])
        self.groups = np.array([row["group"] for row in new])
        windows = [self.model.classify_rows(X) for X in self.tables([folder / row["file"] for row in new])]
        self.P = np.array([P.mean(axis=0) for P, _ in windows])
        self.strangeness = np.array([strangeness.mean() for _, strangeness in windows])

    def tables(self, files: list[Path]) -> list[np.ndarray]:
        """The features of each recording as the model wants them."""
        return bench.feature_tables(files, self.model.recipe)

    def novelty(self, files: dict[str, list[Path]]) -> dict[str, float]:
        """Areas and shares of each kind."""
        p, measures = self.model.novelty.p_values, {}
        for kind, these in files.items():
            strangeness = np.array([self.model.classify_rows(X)[1].mean() for X in self.tables(these)])
            measures[f"auc_{kind}"] = area(self.strangeness, strangeness)
            measures[f"found_{kind}"] = float(np.mean(p(strangeness) < LEVEL))
        return measures | {"false_unknown": float(np.mean(p(self.strangeness) < LEVEL))}

    def covered(self, risk: float, *, nodes: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """For each held-out clip whether its set holds its label, and the size of the set."""
        known = self.model.node_risk
        if nodes:
            inside = known.members_of(self.P, known.risk.threshold(risk))
        else:
            inside = members_of(self.P, self.model.risk.threshold(risk))
        return inside[np.arange(len(self.y)), self.y], inside.sum(axis=1)


def risk_measures(folds: list[Fold]) -> dict[str, object]:
    """Coverage and size over all folds: at a risk, as a curve, by label and by source."""
    is_in, size = _joined(folds, RISK)
    y, groups = (np.concatenate([getattr(fold, name) for fold in folds]) for name in ("y", "groups"))
    of_labels = {label: y == i for i, label in enumerate(folds[0].model.labels) if (y == i).any()}
    by_label = {label: [float(is_in[of].mean()), float(size[of].mean())] for label, of in of_labels.items()}
    by_source = np.mean([is_in[groups == group].mean() for group in np.unique(groups)])
    return {
        "coverage": float(is_in.mean()),
        "size": float(size.mean()),
        "coverage_groups": float(by_source),
        "coverage_worst_label": min(coverage for coverage, _ in by_label.values()),
        "curve": {str(risk): _means(_joined(folds, risk)) for risk in CURVE},
        "node_curve": {str(risk): _means(_joined(folds, risk, nodes=True)) for risk in CURVE},
        "labels": by_label,
    }


def _joined(folds: list[Fold], risk: float, *, nodes: bool = False) -> tuple[np.ndarray, ...]:
    parts = [fold.covered(risk, nodes=nodes) for fold in folds]
    return tuple(np.concatenate([part[i] for part in parts]) for i in range(2))


def _means(values: tuple[np.ndarray, ...]) -> list[float]:
    return [float(each.mean()) for each in values]


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    folds, measured = [], []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        files = strange_files(asked.data, place, asked.quick)
        for fold in "1" if asked.quick else "123":
            bench.note(f"without fold {fold}: training")
            folds.append(Fold(asked.data, fold, place))
            bench.note(f"without fold {fold}: {sum(map(len, files.values()))} recordings that are strange")
            measured.append(folds[-1].novelty(files))
    results: dict[str, object] = {key: float(np.mean([one[key] for one in measured])) for key in measured[0]}
    results |= risk_measures(folds)
    coverages = (dict(zip(("coverage", "size"), _means(fold.covered(RISK)), strict=True)) for fold in folds)
    results["folds"] = [one | coverage for one, coverage in zip(measured, coverages, strict=True)]
    bench.report(results, table_of(results, list(files)), asked.json)


def table_of(results: dict[str, object], kinds: list[str]) -> list[tuple[object, ...]]:
    """For people."""
    rows: list[tuple[object, ...]] = [("kind", "area under the ROC curve", f"unknown at {LEVEL}")]
    rows += [(kind, results[f"auc_{kind}"], results[f"found_{kind}"]) for kind in kinds]
    rows += [("held-out clips", "", results["false_unknown"]), ("", "", ""), ("risk", "coverage", "labels in a set")]
    rows += [(risk, *values) for risk, values in results["curve"].items()]
    rows += [(f"{RISK}, one fold", fold["coverage"], fold["size"]) for fold in results["folds"]]
    rows += [(f"{risk}, nodes", *values) for risk, values in results["node_curve"].items()]
    rows.append((f"{RISK}, mean over sources", results["coverage_groups"], ""))
    labels = sorted(results["labels"].items(), key=lambda item: item[1])
    rows += [(f"{RISK}, {label}", *values) for label, values in (*labels[:3], *labels[-1:])]
    return rows


if __name__ == "__main__":
    main()
