"""What an archive costs: recordings that are added, questions to millions of windows, sounds that are alike, kills.

`add`: pieces of two seconds of real recordings, as 16 kHz WAV files, are classified and are added to an archive, in
turn and on one core; then some more are added, of which alone anything may be computed, and all once more, of which
nothing is. `hours`: long recordings of real audio, for the space that an hour takes. `writers`: two processes add
overlapping folders at once. `kills`: an addition is killed at random moments and started again. `filter`: an archive of
made windows with the shipped model's labels, asked for segments by label, certainty, length, clock time and place, and
for windows in SQL. `like`: windows around real ones; the nearest by the graph and by comparing all, and, of the real
ones, by comparing all in the whole space of the model's kernels.
Keys: add_over_classify, added_later_computed, readd_seconds_per_1000, bytes_per_hour, bytes_per_window, writers_lost,
writers_doubled, kills_lost, kills_doubled, kills_problems, filter_seconds, filter_windows_seconds, like_seconds,
like_first_seconds, like_exact_seconds, like_recall10, like_recall10_kernel, like_recall10_exact, like_build_seconds,
like_bytes_per_window; like_100m_gigabytes and like_100m_build_hours are what as many vectors would take at that rate.
--only names parts, --windows and --vectors are the numbers of made rows; --quick takes a hundredth.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

import hashlib
import itertools
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bench
import numpy as np
import soundfile
import soxr

from audioclass.audio.blocks import read_blocks
from audioclass.audio.recorded import RecordedAt
from audioclass.classifier.model import Model
from audioclass.engine.analysing import CONTENT_LENGTH, Analysis, SegmentChoice, StoredWindows, content_id
from audioclass.engine.archive_rows import analysis_rows, recording_rows, table_of, window_rows
from audioclass.engine.archive_upkeep import compact, verify
from audioclass.engine.archived_models import ArchivedModel, register_model
from audioclass.engine.archives import Archive
from audioclass.engine.batches import classify_many
from audioclass.engine.finding import READ_AGAIN
from audioclass.engine.indexing import add_recordings, create_archive
from audioclass.engine.models import load_model
from audioclass.engine.runs import KEEP_NOTHING, make_run
from audioclass.engine.streaming import SegmentationOptions
from audioclass.extraction.extract import extract_features
from audioclass.index import similar
from audioclass.index.schema import SEGMENTS
from audioclass.index.similar import Vectors, vectors_of
from audioclass.index.snapshot import Snapshot
from audioclass.index.tables import Table, delta
from audioclass.segmentation.outlines import Outline

PARTS = ("add", "hours", "writers", "kills", "filter", "like")
RATE = 16000
PIECE, STEP = 2.0, 0.33  # seconds of a piece, and from one to the next
N_PIECES, N_LATER = 10_000, 500
WINDOWS_A_RECORDING = 1000
N_KILLS = 20
OPTIONS = SegmentChoice().to_json()
ADD = """
import sys, audioclass.engine.indexing as indexing
from pathlib import Path
from audioclass.engine.runs import KEEP_NOTHING, make_run
indexing.COMMIT_EVERY = 0.5
indexing.add_recordings(sys.argv[1], [Path(path) for path in sys.argv[2:]], make_run(cache=KEEP_NOTHING))
"""


def main() -> None:
    """Measure, and print what was measured."""
    numbers = {"windows": (10_000_000, "made windows that are asked"), "vectors": (2_000_000, "made vectors")}
    options = bench.options(__doc__.splitlines()[0], only=PARTS, numbers=numbers)
    scale = 100 if options.quick else 1
    results: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="audioclass-archive-") as folder:
        place = Path(folder)
        sounds = recordings(options.data)
        for part in options.only or PARTS:
            bench.note(f"{part} …")
            if part == "add":
                results |= adding(place / part, sounds, N_PIECES // scale, max(N_LATER // scale, 10))
            elif part == "hours":
                results |= hours(place / part, sounds, 600 // (10 if options.quick else 1))
            elif part == "writers":
                results |= writers(place / part, sounds, 600 // (10 if options.quick else 1))
            elif part == "kills":
                results |= kills(place / part, sounds, 400, 3 if options.quick else N_KILLS)
            elif part == "filter":
                results |= filtering(place / part, options.windows // scale)
            else:
                results |= alike(place / part, sounds, options.vectors // scale, 600 if options.quick else 4000)
            shutil.rmtree(place / part, ignore_errors=True)
    bench.report(results, [("key", "value"), *results.items()], options.json)


# --- real recordings ------------------------------------------------------------------------------------------------


def recordings(data: Path) -> list[np.ndarray]:
    """Real audio at 16 kHz, each recording once."""
    paths = sorted((data / "audio").rglob("*.flac")) + sorted((data / "audio").rglob("*.wav"))
    sounds = []
    for path in paths:
        if soundfile.info(path).duration >= 3:
            samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
            sounds.append(np.clip(soxr.resample(samples[:, 0], rate, RATE), -1, 1))
    if not sounds:
        raise SystemExit(f"{data}: holds no recordings of three seconds")
    return sounds


def pieces(sounds: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Stretches of two seconds, all different: from every recording one, then from every one the next."""
    for turn in range(1000):
        for samples in sounds:
            first = round(turn * STEP * RATE)
            piece = samples[first : first + round(PIECE * RATE)]
            if len(piece) == round(PIECE * RATE):
                yield piece


def write_pieces(folder: Path, sounds: list[np.ndarray], count: int, skip: int = 0) -> list[Path]:
    """So many pieces as files."""
    folder.mkdir(parents=True)
    paths = []
    for number, piece in enumerate(pieces(sounds)):
        if number < skip:
            continue
        if len(paths) == count:
            return paths
        paths.append(folder / f"piece_{number:06d}_{1 + number % 28:02d}.wav")
        soundfile.write(paths[-1], piece, RATE)
    raise SystemExit(f"only {len(paths)} different pieces can be cut")


def adding(place: Path, sounds: list[np.ndarray], count: int, later: int) -> dict[str, object]:
    """What adding costs beside classifying, and adding again."""
    files = write_pieces(place / "first", sounds, count)
    write_pieces(place / "later", sounds, later, skip=count)
    run = make_run(cache=KEEP_NOTHING)
    options = SegmentationOptions.of("hmm", run)
    load_model()  # by both, and not counted
    some = files[: max(count // 10, 10)]
    classify_seconds, add_seconds = [], []
    for number, part in enumerate([some, files]):  # the first turn warms both up
        classify_seconds.append(bench.once(lambda part=part: list(classify_many(part, "broadcast", options, run))))
        archive = place / f"archive_{number}"
        add_seconds.append(bench.once(lambda part=part, archive=archive: add_recordings(archive, part, run)))
    archive = place / "archive_1"
    later_seconds = time.perf_counter()
    added = add_recordings(archive, [place / "first", place / "later"], run)
    later_seconds = time.perf_counter() - later_seconds
    again = [bench.once(lambda: add_recordings(archive, [place / "first", place / "later"], run)) for _ in range(3)]
    return {
        "recordings": count,
        "classify_seconds": classify_seconds[-1],
        "add_seconds": add_seconds[-1],
        "add_over_classify": add_seconds[-1] / classify_seconds[-1],
        "added_later": later,
        "added_later_computed": added.n_computed,
        "added_later_seconds": later_seconds,
        "readd_seconds_per_1000": statistics.median(again) / (count + later) * 1000,
        "verify_problems": len(verify(archive, run).problems),
    }


def hours(place: Path, sounds: list[np.ndarray], seconds: int) -> dict[str, object]:
    """The space that an hour of long recordings takes, joined into few files."""
    place.mkdir()
    joined = np.concatenate(sounds)
    n = min(6, len(joined) // (seconds * RATE))
    for number in range(n):
        part = joined[number * seconds * RATE : (number + 1) * seconds * RATE]
        soundfile.write(place / f"20190403_{number:02d}0000.wav", part, RATE)
    run = make_run(cache=KEEP_NOTHING)
    archive = place / "archive"
    added = add_recordings(archive, [place], run)
    compact(archive, run, keep_days=0)
    snapshot = Snapshot(str(archive))
    held = {name: sum(Path(file).stat().st_size for file in snapshot.files(name)) for name in snapshot.versions}
    growing = sum(size for name, size in held.items() if name != "models")
    return {
        "bytes_per_hour": growing / (added.seconds / 3600),
        "bytes_per_window": held["windows"] / added.n_windows,
        "audio_bytes_per_hour": 3600 * RATE * 2,
    }


# --- writers and kills ----------------------------------------------------------------------------------------------


def counted(archive: Path, files: list[Path]) -> tuple[int, int, int]:
    """Recordings that are lost, recordings that are there twice, and what else is wrong; some sound the same."""
    snapshot, contents = Snapshot(str(archive)), {content_id(file) for file in files}
    held = {name: [row[0] for row in snapshot.rows(sql)] for name, sql in HELD.items()}
    lost = max(len(contents - set(held[name])) for name in ("analyses", "windows", "segments"))
    lost = max(lost, len({str(file) for file in files} - set(held["paths"])))
    doubled = max(len(held[name]) - len(set(held[name])) for name in ("analyses", "paths"))
    return lost, doubled, len(verify(archive, make_run(cache=KEEP_NOTHING)).problems)


HELD = {
    "analyses": "SELECT content FROM analyses",
    "windows": "SELECT DISTINCT content FROM windows",
    "segments": "SELECT DISTINCT content FROM segments",
    "paths": "SELECT path FROM recordings",
}


def writers(place: Path, sounds: list[np.ndarray], count: int) -> dict[str, object]:
    """Two processes that add the same third, and each a third of its own."""
    thirds = [place / name for name in ("left", "both", "right")]
    files = []
    for number, folder in enumerate(thirds):
        files += write_pieces(folder, sounds, count // 3, skip=number * (count // 3))
    archive = place / "archive"
    commands = [[thirds[0], thirds[1]], [thirds[1], thirds[2]]]
    processes = [subprocess.Popen([sys.executable, "-c", ADD, archive, *folders]) for folders in commands]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise SystemExit("a writer failed")
    lost, doubled, problems = counted(archive, files)
    return {"writers_lost": lost, "writers_doubled": doubled, "writers_problems": problems}


def kills(place: Path, sounds: list[np.ndarray], count: int, times: int) -> dict[str, object]:
    """An addition that is killed again and again, and then comes to its end."""
    files = write_pieces(place / "pieces", sounds, count)
    command = [sys.executable, "-c", ADD, place / "archive", place / "pieces"]
    rng = random.Random(0)
    killed, problems = 0, 0
    while killed < times:
        process = subprocess.Popen(command)
        try:
            process.wait(rng.uniform(1.0, 6.0))
            shutil.rmtree(place / "archive")  # it came to its end: begin anew
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            if (place / "archive" / "analyses").exists() and (place / "archive" / "segments").exists():
                problems += bool(counted(place / "archive", [])[2])
    subprocess.run(command, check=True)
    lost, doubled, at_the_end = counted(place / "archive", files)
    return {"kills": killed, "kills_lost": lost, "kills_doubled": doubled, "kills_problems": problems + at_the_end}


# --- made archives --------------------------------------------------------------------------------------------------


def made_archive(archive: Path, n_windows: int, vectors: Iterator[np.ndarray]) -> ArchivedModel:
    """Recordings of a thousand windows each, over four years, with labels that last for some windows."""
    create_archive(str(archive))
    model = register_model(str(archive), "broadcast")
    rng = np.random.default_rng(0)
    n_recordings, together = -(-n_windows // WINDOWS_A_RECORDING), 200
    for first in range(0, n_recordings, together):
        numbers = range(first, min(first + together, n_recordings))
        batch = [made_recording(number, rng, next(vectors), model) for number in numbers]
        contents = {analysis.content: analysis.windows for analysis, _ in batch}
        tables = {
            "windows": window_rows(contents, model.known.id, model.known.labels),
            "segments": segment_table(batch, model),
            "analyses": analysis_rows([analysis for analysis, _ in batch], model.known.id, "{}"),
            "recordings": recording_rows([analysis for analysis, _ in batch]),
        }
        for name, rows in tables.items():
            delta().write_deltalake(Table.named(str(archive), name).address, rows, mode="append")
        bench.note(f"  {min(first + together, n_recordings)} of {n_recordings} recordings")
    return model


def content_of(number: int) -> str:
    """What tells a recording that nobody made from others: as evenly spread as digests are."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:CONTENT_LENGTH]


def made_recording(
    number: int, rng: np.random.Generator, codes: np.ndarray, model: ArchivedModel
) -> tuple[Analysis, np.ndarray]:
    """A recording that nobody made, and where its segments begin."""
    n, labels = WINDOWS_A_RECORDING, model.known.labels
    changes = np.flatnonzero(np.concatenate([[True], rng.random(n - 1) < 0.15]))
    lengths = np.diff(np.append(changes, n))
    places = np.repeat(rng.integers(len(labels), size=len(changes)), lengths)
    P = rng.dirichlet(np.full(len(labels), 0.3), size=n)
    order = np.argsort(-P, axis=1)
    P = np.take_along_axis(P, order, axis=1)
    top = P[:, 0].copy()
    P[:, 0], P[np.arange(n), places] = P[np.arange(n), places], top
    start = np.arange(n, dtype=np.float64)
    levels = rng.normal(-30, 6, size=50 * (n + 1)).round().astype(np.int8)
    outline = Outline(levels, rng.integers(-900, 900, n).astype(np.int32), 0.02, 0.0)
    windows = StoredWindows(np.column_stack([start, start + 2]), P.astype(np.float32), codes, outline)
    moment = datetime(2019, 1, 1, tzinfo=UTC) + timedelta(hours=3.5 * number)
    path = Path(f"/made/{('news', 'music', 'night')[number % 3]}/{number:07d}.wav")
    recorded = RecordedAt(moment, timedelta(hours=1), "name")
    analysis = Analysis(path, content_of(number), 1, 1, n + 1.0, RATE, 1, recorded, windows=windows)
    return analysis, changes


def segment_table(batch: list[tuple[Analysis, np.ndarray]], model: ArchivedModel) -> object:
    """The runs of labels as rows of segments."""
    columns: dict[str, list[object]] = {name: [] for name in SEGMENTS.columns}
    labels = model.known.labels
    for analysis, changes in batch:
        P = analysis.windows.P
        ends = np.append(changes[1:], len(P))
        mean = np.add.reduceat(P, changes, axis=0) / (ends - changes)[:, None]
        order = np.argsort(-mean, axis=1)
        columns["model"] += [model.known.id] * len(changes)
        columns["content"] += [analysis.content] * len(changes)
        columns["start_s"] += changes.astype(float).tolist()
        columns["end_s"] += ends.astype(float).tolist()
        for name, place in (("", 0), ("runner_up", 1)):
            columns[name or "label"] += [labels[label] for label in order[:, place]]
            columns[f"{name}_probability".strip("_")] += mean[np.arange(len(mean)), order[:, place]].tolist()
        columns["novelty"] += [None] * len(changes)
        columns["posteriors"] += mean.tolist()
        columns["options"] += [OPTIONS] * len(changes)
    return table_of(SEGMENTS, columns)


def filtering(place: Path, n_windows: int) -> dict[str, object]:
    """Questions to an archive of many windows."""
    rng = np.random.default_rng(1)
    axes = register_axes(place)
    codes = (rng.integers(-127, 128, (WINDOWS_A_RECORDING, axes), np.int8) for _ in itertools.count())
    write_seconds = bench.once(lambda: made_archive(place / "archive", n_windows, codes))
    run = make_run(cache=place / "cache")
    archive = Archive(str(place / "archive"), run)
    asked = {
        "label": {"label": "speech", "min_probability": 0.9, "min_duration": 10.0},
        "year": {"label": "speech", "min_probability": 0.9, "since": "2019", "until": "2019", "limit": 50},
        "night": {"label": "music", "between": "22:00-04:00", "sort": "probability", "limit": 50},
        "near": {"label": "music", "min_probability": 0.8, "near": "speech:5s", "path": "news/*", "limit": 50},
    }
    seconds = {}
    for name, options in asked.items():
        rounds = [bench.once(lambda options=options: archive.find(**options)) for _ in range(4)]
        seconds[f"filter_{name}_seconds"] = statistics.median(rounds[1:])
        seconds[f"filter_{name}_cold_seconds"] = rounds[0]
    sql = "SELECT count(*), max(probability) FROM windows WHERE label = 'speech' AND probability > 0.9"
    of_windows = [bench.once(lambda: Snapshot(archive.address).rows(sql)) for _ in range(4)]
    [(n_segments,)] = Snapshot(archive.address).rows("SELECT count(*) FROM segments")
    size = sum(file.stat().st_size for file in (place / "archive" / "windows").rglob("*.parquet"))
    return {
        "windows": n_windows,
        "segments": n_segments,
        "write_seconds": write_seconds,
        "made_bytes_per_window": size / n_windows,
        "filter_seconds": max(seconds[f"filter_{name}_seconds"] for name in asked),
        **seconds,
        "filter_windows_seconds": statistics.median(of_windows[1:]),
    }


def register_axes(place: Path) -> int:
    """How many numbers a vector of the shipped model has."""
    create_archive(str(place / "axes"))
    return register_model(str(place / "axes"), "broadcast").projection.n_axes


# --- sounds that are alike ------------------------------------------------------------------------------------------


def alike(place: Path, sounds: list[np.ndarray], n_vectors: int, n_real: int) -> dict[str, object]:
    """The nearest windows by the graph, by comparing all vectors, and by comparing all prepared rows."""
    similar.EXACT_UP_TO = min(similar.EXACT_UP_TO, n_vectors // 2)
    files = write_pieces(place / "pieces", sounds, n_real)
    create_archive(str(place / "axes"))
    registered = register_model(str(place / "axes"), "broadcast")
    prepared = prepared_rows(files, registered.model)
    codes = registered.projection.codes(prepared)
    around = vectors_around(codes, np.random.default_rng(0))
    archived = made_archive(place / "archive", n_vectors, around)
    run, archive = make_run(cache=place / "cache"), str(place / "archive")
    snapshot, first_seconds = Snapshot(archive), []
    first_seconds.append(bench.once(lambda: vectors_of(snapshot, archived.known, codes.shape[1], run)))
    by_graph = vectors_of(snapshot, archived.known, codes.shape[1], run)
    by_all = Vectors(by_graph.vectors, by_graph.windows)
    recalls, graph_seconds, all_seconds = [], [], []
    for query in codes[:: max(len(codes) // 50, 1)]:
        start = time.perf_counter()
        near = by_graph.nearest(query[None], 10)
        graph_seconds.append(time.perf_counter() - start)
        start = time.perf_counter()
        exact = by_all.nearest(query[None], 10)
        all_seconds.append(time.perf_counter() - start)
        recalls.append(np.mean(near.distances <= exact.distances[-1]))  # of equal distances any is right
    asked = [bench.once(lambda file=file: Archive(archive, run).find(like=file, limit=10)) for file in files[:12]]
    size = sum(file.stat().st_size for file in (place / "cache" / "vectors").rglob("*") if file.is_file())
    return {
        "vectors": n_vectors,
        "like_build_seconds": first_seconds[0],
        "like_first_seconds": asked[0],
        "like_seconds": statistics.median(asked[1:]),
        "like_graph_seconds": statistics.median(graph_seconds),
        "like_exact_seconds": statistics.median(all_seconds),
        "like_recall10": float(np.mean(recalls)),
        "like_recall10_kernel": kernel_recall(prepared, codes, 10),
        "like_recall10_exact": kernel_recall(prepared, codes, 10 * READ_AGAIN),
        "like_bytes_per_window": size / n_vectors,
        "like_100m_gigabytes": size / n_vectors * 1e8 / 1e9,
        "like_100m_build_hours": first_seconds[0] * 1e8 / n_vectors / 3600,
    }


def prepared_rows(files: list[Path], model: Model) -> np.ndarray:
    """The windows of recordings as the model's kernels compare them."""
    rows = []
    for file in files:
        chunks = extract_features(read_blocks(file, model.recipe.framing.sample_rate), model.recipe)
        rows += [model.prepared(features.X)[:, 0] for features in chunks]
    return np.concatenate(rows)


def vectors_around(codes: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Vectors of recordings without end, each near one of those of real windows."""
    spread = codes.std(axis=0) * 0.35
    while True:
        some = codes[rng.integers(len(codes), size=WINDOWS_A_RECORDING)]
        yield np.rint(some + rng.normal(size=some.shape) * spread).clip(-127, 127).astype(np.int8)


def kernel_recall(prepared: np.ndarray, codes: np.ndarray, among: int) -> float:
    """Of the ten windows nearest in the space of the kernels, the share that is among so many nearest by vectors.

    Where the recordings of these are read once more, they are put in the order that they have in the whole space.
    """
    unique = np.sort(np.unique(codes, axis=0, return_index=True)[1])
    X, Z = prepared[unique].astype(np.float64), codes[unique].astype(np.float64)
    shares = []
    for query in range(0, len(X), max(len(X) // 300, 1)):
        exact = np.argsort(((X - X[query]) ** 2).sum(axis=1))[1:11]
        near = np.argsort(((Z - Z[query]) ** 2).sum(axis=1), kind="stable")[1 : among + 1]
        shares.append(len(set(exact.tolist()) & set(near.tolist())) / 10)
    return float(np.mean(shares))


if __name__ == "__main__":
    main()
