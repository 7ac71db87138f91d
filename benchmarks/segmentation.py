"""Boundaries, silences and overlaps found in radio-like programmes whose truth is known, and what finding them costs.

The programmes are those of `corpora/programme`, of sources that the shipped model was never trained on; they are made,
which fetches two gigabytes of packages, unless the folder --programmes holds them. Frames are 10 ms. Speech over music
counts as speech, and the boundary of a cross-fade is its middle.
Keys: frame_accuracy, recall_… by label, accuracy_by_kind of item; boundary_median, seconds from a true boundary to the
nearest that was found, and boundary_within_fifth, _half and _second, of boundaries between items and of pauses that
were put in; the same with _all, pauses of the sources' own included, with _sounds, no silence on either side, and with
_told, those of _sounds on both sides of which the right label was found, whose share is boundaries_told;
boundary_precision_…, of the found ones; segments_over_truth, and _sounds with silences left out of both;
silence_recall_500ms, of silences from half a second on, of which at least 80 % is silent with both edges within 0.1 s,
those of -55 dB left out, and silence_recall by length and by level; silence_precision, of the time called silent;
speech_f1; cost_over_extract, processor time of classifying over that of extracting, one thread; overlap_f1, of speech
over music found by the multi-label model that --multi-label names, else null; auto_silence_recall_500ms, of pauses that
were put in, those of -55 dB included, auto_silence_precision and auto_silences_over_truth, of silences found by the
noise floor, in the programmes as they are and with white noise over all of them at -50 and -45 dB, where what is below
the noise is silent in the truth too. inaspeechsegmenter_…, pyaudioanalysis_… and silero_vad_… are the answers of these
where they are installed. --model names another model; --quick takes one programme.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bench
import floor_measures
import numpy as np
import segment_measures as measures
import segmenters
import soundfile
from segment_measures import Pause, Row

from audioclass import classify, extract, load_model
from audioclass.engine.models import DEFAULT_MODEL
from audioclass.engine.runs import user_cache

MAKE = Path(__file__).resolve().parents[1] / "corpora" / "programme" / "make.py"
AUDIBLE = -55.0  # decibels: a pause that is louder than what counts as silence by default
GAP = 1.0  # seconds of no label between programmes
NAMES = dict(zip(measures.TOLERANCES, ("fifth", "half", "second"), strict=True))
COST_ROUNDS = 3


@dataclass(frozen=True)
class Programme:
    """A recording, its truth, and what it was made of: items by their kind, and pauses."""

    path: Path
    seconds: float
    truth: list[Row]
    items: list[Row]
    pauses: list[Pause]

    @property
    def sounds(self) -> list[Row]:
        """Items by the label that counts."""
        return [(start, end, kind.split("_over_")[0]) for start, end, kind in self.items]


@dataclass(frozen=True)
class Timeline:
    """Programmes one after the other, with nothing between them, so that each measure is taken once over all."""

    programmes: Sequence[Programme]

    @property
    def starts(self) -> list[float]:
        lengths = [round(one.seconds + GAP, 2) for one in self.programmes]
        return np.cumsum([0.0, *lengths]).tolist()

    @property
    def n_steps(self) -> int:
        return round(self.starts[-1] / measures.STEP)

    def joined(self, rows: Sequence[Sequence[Row]]) -> list[Row]:
        """Rows of each programme, their times on the timeline and within their programme."""
        return [
            (start + min(first, one.seconds), start + min(last, one.seconds), label)
            for start, one, of in zip(self.starts[:-1], self.programmes, rows, strict=True)
            for first, last, label in of
        ]

    def pauses(self) -> list[Pause]:
        parts = zip(self.starts[:-1], self.programmes, strict=True)
        return [Pause(start + p.start, start + p.end, p.level) for start, one in parts for p in one.pauses]


def read_programmes(folder: Path) -> list[Programme]:
    """The programmes of a folder with truth.csv and items.csv."""
    truths, items = (_by_file(folder / name) for name in ("truth.csv", "items.csv"))
    programmes = []
    for file, rows in truths.items():
        sounds = [(*_times(row), row["kind"]) for row in items[file] if row["kind"] != "pause"]
        pauses = [Pause(*_times(row), float(row["level"] or "-inf")) for row in items[file] if row["kind"] == "pause"]
        seconds = soundfile.info(folder / file).duration
        truth = [(*_times(row), row["label"]) for row in rows]
        programmes.append(Programme(folder / file, seconds, truth, sounds, pauses))
    return programmes


def _by_file(table: Path) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    with table.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["file"], []).append(row)
    return found


def _times(row: dict[str, str]) -> tuple[float, float]:
    return float(row["start"]), float(row["end"])


def measure(timeline: Timeline, answers: Sequence[Sequence[Row]]) -> dict[str, object]:
    """Everything that answers of one label tell."""
    n_steps, pauses = timeline.n_steps, timeline.pauses()
    reference = measures.one_label(timeline.joined([one.truth for one in timeline.programmes]), n_steps)
    estimated = measures.one_label(timeline.joined(answers), n_steps)
    sounds = measures.one_label(timeline.joined([one.sounds for one in timeline.programmes]), n_steps)
    kinds = measures.steps_of(timeline.joined([one.items for one in timeline.programmes]), n_steps)
    return {
        "frame_accuracy": measures.frame_accuracy(reference, estimated),
        **{f"recall_{label}": value for label, value in measures.frame_recalls(reference, estimated).items()},
        "accuracy_by_kind": {
            kind: measures.frame_accuracy(reference[within], estimated[within])
            for kind, within in sorted(kinds.items())
        },
        "speech_f1": measures.f1(reference == "speech", estimated == "speech"),
        **boundary_measures(reference, measures.put_in_only(reference, sounds, pauses), estimated),
        **segment_counts(reference, estimated),
        **silence_measures(reference, estimated, pauses),
    }


def boundary_measures(reference: np.ndarray, planned: np.ndarray, estimated: np.ndarray) -> dict[str, float]:
    """Medians and shares of the three kinds of boundaries, and of what was found near any of them."""
    found, every = measures.boundaries(estimated), measures.boundaries(reference)
    sounds = measures.boundaries(planned, silence=False)
    told = measures.told(sounds, planned, estimated)
    kinds = {"": measures.boundaries(planned), "_all": every, "_sounds": sounds, "_told": told}
    results = {"boundaries_told": len(told) / len(sounds) if len(sounds) else 1.0}
    for kind, times in kinds.items():
        distance = measures.distances(times, found)
        results[f"boundary_median{kind}"] = float(np.median(distance)) if len(distance) else 0.0
        for tolerance, name in NAMES.items():
            results[f"boundary_within_{name}{kind}"] = measures.share_within(distance, tolerance)
    back = measures.distances(found, every)
    return results | {
        f"boundary_precision_{name}": measures.share_within(back, tolerance) for tolerance, name in NAMES.items()
    }


def segment_counts(reference: np.ndarray, estimated: np.ndarray) -> dict[str, float]:
    """Found segments over true ones, with silences and without."""
    pairs = {"": (reference, estimated), "_sounds": tuple(map(measures.without_silence, (reference, estimated)))}
    counts = {kind: [len(measures.segments_of(labels)) for labels in pair] for kind, pair in pairs.items()}
    return {f"segments_over_truth{kind}": found / true for kind, (true, found) in counts.items()}


def silence_measures(reference: np.ndarray, estimated: np.ndarray, pauses: Sequence[Pause]) -> dict[str, object]:
    """Recalls of silences; by level only those that were put in, by length those that are quiet enough."""
    every = measures.silences(reference, pauses)
    quiet = [silence for silence in every if silence.level != AUDIBLE]
    half = [silence for silence in quiet if silence.duration >= 0.5 - measures.ROUNDING]
    put_in = [silence for silence in half if silence.level is not None]
    called, is_silent = estimated == "silence", reference == "silence"
    recall = measures.silence_recall
    return {
        "silence_recall_500ms": recall(half, estimated),
        "silence_recall_500ms_put_in": recall(put_in, estimated),
        "silences_500ms": len(half),
        "silence_recall_by_length": {
            f"{low:g}-{high:g}": recall([s for s in quiet if low <= s.duration + measures.ROUNDING < high], estimated)
            for low, high in measures.LENGTHS
        },
        "silence_recall_by_level": {
            f"{level:g}": recall([s for s in every if s.level == level and s.duration >= 0.5], estimated)
            for level in sorted({pause.level for pause in pauses})
        },
        "silence_precision": float(is_silent[called].mean()) if called.any() else None,
    }


def by_noise_floor(timeline: Timeline, sample_rate: int) -> dict[str, dict[str, float | None]]:
    """Measures of `auto`, each by the noise that was added."""
    truth = timeline.joined([one.truth for one in timeline.programmes])
    answers = [floor_measures.silences_by_floor(one.path, sample_rate) for one in timeline.programmes]
    results: dict[str, dict[str, float | None]] = {}
    for added in answers[0]:
        found, masked = (timeline.joined([answer[added][which] for answer in answers]) for which in (0, 1))
        measured = floor_measures.floor_measures([*truth, *masked], found, timeline.pauses(), timeline.n_steps)
        for key, value in measured.items():
            results.setdefault(key, {})[added] = value
    return results


def rows_of(path: Path, model: object) -> list[Row]:
    """What classification says of a programme."""
    return [(each.start, each.end, each.label) for each in classify(path, model).segments]


def cost(path: Path, model: object, rounds: int) -> float:
    """Processor time of classifying over that of extracting with the model's recipe, taken in turn."""
    works = {"classify": lambda: classify(path, model), "extract": lambda: extract(path, model.recipe)}
    taken = bench.interleaved(rounds, time.process_time, **works)
    return bench.median_ratio(taken["classify"], taken["extract"])


def ask_others(timeline: Timeline) -> dict[str, dict[str, object]]:
    """What the other tools that are installed find, measured in the same way."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        for other, ask in segmenters.ALL.items():
            try:
                answers = [ask(segmenters.as_wave(one.path, Path(name))) for one in timeline.programmes]
            except Exception as error:  # another tool may raise anything, such as for a model that it cannot fetch
                bench.note(f"{other}: {error}")
                continue
            found[other] = measure(timeline, answers)
            if {label for rows in answers for *_, label in rows} <= {"speech"}:  # boundaries need a label on each side
                found[other] = {key: found[other][key] for key in ("recall_speech", "speech_f1")}
    return found


def excerpt(path: Path, folder: Path, seconds: float) -> Path:
    """The beginning of a programme as a recording of its own."""
    with soundfile.SoundFile(path) as sound:
        rate = sound.samplerate
        samples = sound.read(round(seconds * rate), dtype="int16")
    soundfile.write(folder / "excerpt.flac", samples, rate)
    return folder / "excerpt.flac"


def make_programmes(folder: Path, data: Path) -> None:
    """The test programmes, unless they are there."""
    if not (folder / "truth.csv").exists():
        bench.note(f"{folder}: programmes are made there")
        order = [sys.executable, str(MAKE), str(folder.parent / "work"), str(folder), "--half", "test"]
        subprocess.run([*order, "--data", str(data.resolve())], check=True)


def main() -> None:
    folder = str(user_cache() / "programme" / "test")
    numbers = {
        "programmes": (folder, "folder of programmes with truth.csv and items.csv"),
        "multi_label": ("", "a multi-label model whose overlaps are measured"),
    }
    asked = bench.options(__doc__.splitlines()[0], model=DEFAULT_MODEL, numbers=numbers)
    make_programmes(Path(asked.programmes), asked.data)
    timeline = Timeline(read_programmes(Path(asked.programmes))[: 1 if asked.quick else None])
    model = load_model(asked.model)
    answers = []
    for one in timeline.programmes:
        bench.note(f"{one.path.name}: {one.seconds / 60:.0f} minutes")
        answers.append(rows_of(one.path, model))
    results = measure(timeline, answers)
    results["overlap_f1"] = overlap(timeline, asked.multi_label)
    bench.note("silences by the noise floor")
    results |= by_noise_floor(timeline, model.recipe.framing.sample_rate)
    bench.note("cost")
    with tempfile.TemporaryDirectory() as name:
        shorter = excerpt(timeline.programmes[0].path, Path(name), 300.0 if asked.quick else 900.0)
        results["cost_over_extract"] = cost(shorter, model, 1 if asked.quick else COST_ROUNDS)
    others = ask_others(timeline)
    rows = table_of(results, others)
    results |= {f"{other}_{key}": value for other, found in others.items() for key, value in found.items()}
    bench.report(results, rows, asked.json)


def overlap(timeline: Timeline, model_file: str) -> float | None:
    """Of the model that hears several labels at once; None where none is named."""
    if not model_file:
        bench.note("overlap_f1: --multi-label names no model")
        return None
    model = load_model(model_file)
    answers = timeline.joined([rows_of(one.path, model) for one in timeline.programmes])
    truth = timeline.joined([one.truth for one in timeline.programmes])
    return measures.overlap_f1(truth, answers, timeline.n_steps)


def table_of(results: dict[str, object], others: dict[str, dict[str, object]]) -> list[tuple[object, ...]]:
    """For people."""
    rows: list[tuple[object, ...]] = [("measure", "audioclass", *others)]
    for key, value in results.items():
        for part, each in value.items() if isinstance(value, dict) else [("", value)]:
            beside = [found.get(key) for found in others.values()]
            beside = [other[part] if isinstance(other, dict) else other for other in beside]
            rows.append((f"{key} {part}".strip(), *("" if cell is None else cell for cell in (each, *beside))))
    return rows


if __name__ == "__main__":
    main()
