"""Delta Lake beside Lance as the tables of an archive: writers at once, kills, size, questions, commits, neighbours.

Windows are made: recordings of an hour, a window a second, four labels, and vectors of 128 int8 that do not compress.
`writers`: two and four processes add recordings, each its own or all the same ones; a row that is there must not be
added twice. Any two commits conflict, or, as `delta_by_content`, those of recordings whose digests start alike.
`kills`: a process that adds recordings is killed at random moments. `size`: batches, compaction, and one question
(speech above 0.9: how many, and the 50 likeliest) from DuckDB, pandas and Polars, cold (a new process, files dropped
from the page cache) and warm. `commits`: one small commit after many. `vectors`: the vector column as lists and as
bytes. `neighbours`: the ten nearest of a vector by Lance and by usearch.
Lance is left out where it is not installed. --quick takes a small part; --only names parts; --windows and --vectors
are the numbers of rows.
Keys: <format>_<what>, and delta_over_lance_<what> where both were measured.
"""

import itertools
import multiprocessing
import os
import random
import resource
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import bench
import numpy as np
from tables import (
    HOUR,
    N_AXES,
    Conflict,
    DeltaByContent,
    Format,
    as_bytes,
    as_fixed_lists,
    as_lists,
    content_of,
    formats,
    windows,
)

N_BATCHES = 50
SMALL = 100  # windows of a small commit
LOGS = {"_delta_log", "_versions", "_transactions"}  # folders of either format that tell what the table is
SPAWN = multiprocessing.get_context("spawn")  # the threads of both libraries do not survive a fork


# Processes.


def in_process(work: Callable[..., object], *arguments: object) -> Any:
    """The result of a work that is done in a process of its own."""
    with SPAWN.Pool(1) as pool:
        return pool.apply(work, arguments)


@contextmanager
def started(works: list[tuple]) -> Iterator[list[tuple[multiprocessing.Process, Connection]]]:
    """Processes, each with the end of a pipe that it writes to."""
    running = []
    for target, *arguments in works:
        here, there = SPAWN.Pipe()
        process = SPAWN.Process(target=target, args=(there, *arguments))
        process.start()
        there.close()
        running.append((process, here))
    try:
        yield running
    finally:
        for process, _ in running:
            process.join()


def bytes_under(path: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


# Writers at once.


def write_recordings(pipe: Connection, table_format: Format, path: Path, recordings: list[int], n: int) -> None:
    """Add recordings as soon as the other side says go; tells its conflicts, its start and its end."""
    tables = [windows(recording, n, n) for recording in recordings]
    table_format.counts(path)  # what is imported late is imported
    pipe.send("ready")
    pipe.recv()
    start, conflicts = time.time(), 0
    for table in tables:
        while True:
            try:
                table_format.add_once(path, table)
                break
            except Conflict:
                conflicts += 1
    pipe.send((conflicts, start, time.time()))


def writers(folder: Path, table_format: Format, sizes: dict[str, int]) -> dict[str, float]:
    """Two and four writers at once: what is lost, what is doubled, conflicts, rows a second."""
    results: dict[str, float] = {}
    for n_writers, kind in itertools.product((2, 4), ("different", "same")):
        firsts = [writer * 1000 if kind == "different" else 0 for writer in range(n_writers)]
        measured = write_at_once(folder / f"{n_writers}_{kind}", table_format, firsts, sizes)
        results |= {f"{name}_{n_writers}_{kind}": value for name, value in measured.items()}
    return results


def write_at_once(path: Path, table_format: Format, firsts: list[int], sizes: dict[str, int]) -> dict[str, float]:
    """A writer for each number of a first recording, all at once."""
    n_rows = sizes["minutes"] * 60
    table_format.append(path, windows(10**6, SMALL, SMALL))
    shares = [range(first, first + sizes["recordings"]) for first in firsts]
    with started([(write_recordings, table_format, path, list(share), n_rows) for share in shares]) as running:
        for _, pipe in running:
            pipe.recv()
        for _, pipe in running:
            pipe.send("go")
        told = [pipe.recv() for _, pipe in running]
    counts = table_format.counts(path)
    counts.pop(content_of(10**6))
    rows, different = (sum(count[i] for count in counts.values()) for i in (0, 1))
    return {
        "lost": len(set().union(*shares)) * n_rows - different,
        "doubled": rows - different,
        "conflicts": sum(conflicts for conflicts, *_ in told),
        "rows_per_second": different / (max(end for *_, end in told) - min(start for _, start, _ in told)),
    }


# Kills.


def write_until_killed(pipe: Connection, table_format: Format, path: Path, first: int, n: int) -> None:
    """Add one recording after the other and tell each that is there."""
    recording, table = first, windows(first, n, n)
    table_format.counts(path)  # what is imported late is imported
    place = table.schema.get_field_index("content")
    while True:
        table = table.set_column(place, "content", [np.repeat(content_of(recording), n)])
        pipe.send(("write", recording))
        table_format.add_once(path, table)
        pipe.send(("there", recording))
        recording += 1


def kills(folder: Path, table_format: Format, sizes: dict[str, int]) -> dict[str, float]:
    """A writer is killed again and again: is all there that it was told is, is nothing there twice or in part?"""
    path, n, rng = folder / "kills", 5 * HOUR, random.Random(0)
    table_format.append(path, windows(10**6, SMALL, SMALL))
    acknowledged: set[int] = set()
    unreadable = partial = during_write = 0
    for _ in range(sizes["kills"]):
        first = max(acknowledged, default=-1) + 1  # what was being written when it was killed is written again
        with started([(write_until_killed, table_format, path, first, n)]) as [(process, pipe)]:
            pipe.recv()
            time.sleep(rng.uniform(0.0, 1.5))
            os.kill(process.pid, signal.SIGKILL)
        told = [("write", first), *drain(pipe)]
        acknowledged |= {recording for what, recording in told if what == "there"}
        during_write += told[-1][0] == "write"
        try:
            counts = table_format.counts(path)
        except Exception as error:
            bench.note(f"{table_format.name}: {error}")
            unreadable += 1
            continue
        partial += sum(rows < n for rows, _ in counts.values() if rows != SMALL)
    counts = table_format.counts(path)
    lost = [recording for recording in acknowledged if content_of(recording) not in counts]
    kept = table_format.data_files(path)
    left = [file for file in path.rglob("*") if file.is_file() and file not in kept and not LOGS & {*file.parts}]
    return {
        "kills": sizes["kills"],
        "kills_during_write": during_write,
        "kills_recordings": len(acknowledged),
        "kills_unreadable": unreadable,
        "kills_lost": len(lost),
        "kills_partial": partial,
        "kills_doubled": sum(rows > different for rows, different in counts.values()),
        "kills_leftover_mb": sum(file.stat().st_size for file in left) / 1e6,
    }


def drain(pipe: Connection) -> list[tuple[str, int]]:
    """What a process told before it was killed."""
    told = []
    try:
        while pipe.poll():
            told.append(pipe.recv())
    except EOFError:
        pass
    return told


# Size and questions.


def size(folder: Path, table_format: Format, sizes: dict[str, int]) -> dict[str, float]:
    """Batches one after the other, the question, compaction, and the question again."""
    path, n = folder / "size", sizes["windows"] // N_BATCHES
    seconds = 0.0
    for batch in range(N_BATCHES):
        table = windows(batch * (n // HOUR + 1), n)
        seconds += bench.once(lambda table=table: table_format.append(path, table))
    results = {
        "write_seconds": seconds,
        "rows_per_second": n * N_BATCHES / seconds,
        "bytes_per_window": bytes_under(path) / (n * N_BATCHES),
        "files": len(table_format.data_files(path)),
    }
    results |= {f"{key}_before": value for key, value in asked(path, table_format).items()}
    results["compact_seconds"] = bench.once(lambda: table_format.compact(path))
    results["bytes_per_window_uncleaned"] = bytes_under(path) / (n * N_BATCHES)
    results["clean_seconds"] = bench.once(lambda: table_format.clean(path))
    results["bytes_per_window_compacted"] = bytes_under(path) / (n * N_BATCHES)
    results["files_compacted"] = len(table_format.data_files(path))
    results |= asked(path, table_format)
    shutil.rmtree(path)
    return results


def asked(path: Path, table_format: Format) -> dict[str, float]:
    """Seconds of the question, cold and warm, by each tool in a process of its own."""
    results, answers = {}, set()
    for tool in ("duckdb", "pandas", "polars"):
        seconds = [in_process(ask, path, table_format, tool) for _ in range(2)]
        answers |= {answer for answer, *_ in seconds}
        results[f"{tool}_cold"] = min(cold for _, cold, _ in seconds)
        results[f"{tool}_warm"] = min(warm for *_, warm in seconds)
    if len(answers) > 1:
        raise SystemExit(f"{table_format.name}: tools differ: {answers}")
    return results


def ask(path: Path, table_format: Format, tool: str) -> tuple[tuple[int, int], float, float]:
    """The answer, and its seconds cold and warm."""
    question = table_format.questions(path)[tool]
    forget(path)
    cold = bench.once(question)
    warm = min(bench.once(question) for _ in range(3))
    return question(), cold, warm


def forget(path: Path) -> None:
    """Drop the files of a folder from the page cache."""
    os.sync()
    for file in path.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


# Commits.


def commits(folder: Path, table_format: Format, sizes: dict[str, int]) -> dict[str, float]:
    """Median milliseconds of one small commit, the table opened for it, after 10, 100 and 1000 others."""
    path, results, done = folder / "commits", {}, 0
    for n_commits in (10, 100, 1000):
        if n_commits > sizes["commits"]:
            break
        seconds = []
        while done < n_commits + 10:
            table = windows(done, SMALL, SMALL)
            seconds.append(bench.once(lambda table=table: table_format.append(path, table)))
            done += 1
        results[f"commit_ms_{n_commits}"] = 1000 * statistics.median(seconds[-10:])
        results[f"log_kb_{n_commits}"] = sum(bytes_under(path / log) / 1000 for log in LOGS)
        table = windows(10**6 + n_commits, SMALL, SMALL)
        results[f"add_once_ms_{n_commits}"] = 1000 * bench.once(lambda table=table: table_format.add_once(path, table))
    return results


# The vector column.


def vectors(folder: Path, sizes: dict[str, int]) -> dict[str, float]:
    """Seconds to write and to read the vectors of Delta Lake as lists of int8 and as bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from deltalake import DeltaTable, write_deltalake

    codes = np.random.default_rng(0).integers(-127, 128, (min(400_000, sizes["windows"]), N_AXES), dtype=np.int8)
    results = {}
    for kind, column in (("lists", as_lists(codes)), ("bytes", as_bytes(codes))):
        path = folder / kind
        table = pa.table({"vector": column})
        results[f"delta_{kind}_write_seconds"] = bench.once(lambda p=path, t=table: write_deltalake(p, t))
        files = DeltaTable(path).file_uris()
        results[f"delta_{kind}_read_seconds"] = bench.once(lambda files=files: pq.read_table(files))
        results[f"delta_{kind}_bytes_per_window"] = bytes_under(path) / len(codes)
    return results


# Neighbours.


def sounds(n: int) -> np.ndarray:
    """Vectors that lie near a few directions, as those of windows do: 24 hidden numbers and noise."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(24, N_AXES)).astype(np.float32)
    centres = rng.normal(size=(200, 24)).astype(np.float32)
    hidden = centres[rng.integers(len(centres), size=n)] + 0.5 * rng.normal(size=(n, 24)).astype(np.float32)
    codes = hidden @ mixing * 6 + 3 * rng.standard_normal((n, N_AXES), dtype=np.float32)
    return np.rint(codes).clip(-127, 127).astype(np.int8)


def recall(answers: np.ndarray, exact: np.ndarray) -> float:
    """The share of the ten nearest that is answered."""
    return float(np.mean([len(set(a) & set(e)) / len(e) for a, e in zip(answers, exact, strict=True)]))


def timed(search: Callable[[np.ndarray], np.ndarray], queries: np.ndarray) -> tuple[np.ndarray, float]:
    """The ten nearest of each query, and the median milliseconds of one."""
    search(queries[0])
    answers, seconds = [], []
    for query in queries:
        start = time.perf_counter()
        answers.append(search(query))
        seconds.append(time.perf_counter() - start)
    return np.array(answers), 1000 * statistics.median(seconds)


def peak_mb() -> float:
    """Largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def split(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Stored vectors, and 100 queries that are not among them."""
    codes = sounds(n + 100)
    return codes[:n], codes[n:]


def by_usearch(folder: Path, n: int) -> dict[str, float]:
    """Exact search and HNSW of usearch; the exact answers are kept for others."""
    from usearch.index import Index, MetricKind, search

    codes, queries = split(n)
    exact, exact_ms = timed(lambda query: search(codes, query, 10, MetricKind.L2sq, exact=True).keys, queries)
    np.save(folder / "exact.npy", exact)
    index = Index(ndim=N_AXES, metric="l2sq", dtype="i8")
    busy = time.process_time()
    build = bench.once(lambda: index.add(np.arange(n), codes))
    busy = time.process_time() - busy
    answers, hnsw_ms = timed(lambda query: index.search(query, 10).keys, queries)
    index.save(folder / "index.usearch")
    viewed = Index.restore(folder / "index.usearch", view=True)
    _, viewed_ms = timed(lambda query: viewed.search(query, 10).keys, queries)
    return {
        "usearch_exact_ms": exact_ms,
        "usearch_hnsw_build_seconds": build,
        "usearch_hnsw_build_cpu_seconds": busy,
        "usearch_hnsw_ms": hnsw_ms,
        "usearch_hnsw_viewed_ms": viewed_ms,
        "usearch_hnsw_recall": recall(answers, exact),
        "usearch_hnsw_memory_mb": index.memory_usage / 1e6,
        "usearch_hnsw_disk_mb": (folder / "index.usearch").stat().st_size / 1e6,
    }


def by_lance(folder: Path, n: int) -> dict[str, float]:
    """Exact search and the IVF indexes of Lance; it indexes floating values only, hence float16."""
    import lance
    import pyarrow as pa

    codes, queries = split(n)
    exact, path = np.load(folder / "exact.npy"), folder / "vectors.lance"
    table = pa.table({"key": np.arange(n), "vector": as_fixed_lists(codes.astype(np.float16))})
    write = bench.once(lambda: lance.write_dataset(table, path))
    stored = bytes_under(path)

    def nearest(dataset: Any, **options: object) -> Callable[[np.ndarray], np.ndarray]:
        def search(query: np.ndarray) -> np.ndarray:
            question = {"column": "vector", "q": query.astype(np.float16), "k": 10, **options}
            return dataset.to_table(columns=["key", "_distance"], nearest=question)["key"].to_numpy()

        return search

    answers, exact_ms = timed(nearest(lance.dataset(path), use_index=False), queries[:20])
    results = {
        "lance_vectors_write_seconds": write,
        "lance_vectors_disk_mb": stored / 1e6,
        "lance_exact_ms": exact_ms,
        "lance_exact_recall": recall(answers, exact[:20]),
    }
    settings = {"IVF_SQ": {}, "IVF_PQ": {"num_sub_vectors": 32}}
    for kind, options in settings.items():
        partitions = max(1, round(n**0.5))
        before = bytes_under(path)
        build = bench.once(
            lambda k=kind, o=options, p=partitions: lance.dataset(path).create_index(
                "vector", k, num_partitions=p, replace=True, **o
            )
        )
        refine = {"refine_factor": 10} if kind == "IVF_PQ" else {}
        answers, milliseconds = timed(nearest(lance.dataset(path), nprobes=20, **refine), queries)
        key = f"lance_{kind.lower()}"
        results |= {
            f"{key}_build_seconds": build,
            f"{key}_ms": milliseconds,
            f"{key}_recall": recall(answers, exact),
            f"{key}_disk_mb": (bytes_under(path) - before) / 1e6,
        }
    return results | {"lance_peak_mb": peak_mb()}


def neighbours(folder: Path, sizes: dict[str, int]) -> dict[str, float]:
    """The nearest ten by both, each in a process of its own."""
    results = in_process(by_usearch, folder, sizes["vectors"])
    if find_spec("lance") is not None:
        results |= in_process(by_lance, folder, sizes["vectors"])
    return results


# All of it.

OF_A_FORMAT = {"writers": writers, "kills": kills, "size": size, "commits": commits}
OF_ITSELF = {"vectors": vectors, "neighbours": neighbours}
FULL = {"recordings": 20, "minutes": 10, "kills": 20, "commits": 1000}
QUICK = {"recordings": 4, "minutes": 2, "kills": 3, "commits": 10}
NUMBERS = {"windows": (10_000_000, "windows of the table"), "vectors": (2_000_000, "vectors that are searched")}


def measure(part: str, sizes: dict[str, int], offered: list[Format]) -> dict[str, float]:
    """The keys of a part, in a folder that is deleted."""
    results: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        if part in OF_ITSELF:
            return OF_ITSELF[part](Path(name), sizes)
        for table_format in offered:
            if part != "writers" and isinstance(table_format, DeltaByContent):
                continue  # it differs where writers meet
            folder = Path(name, table_format.name)
            folder.mkdir()
            bench.note(f"{part}: {table_format.name}")
            measured = OF_A_FORMAT[part](folder, table_format, sizes)
            results |= {f"{table_format.name}_{key}": value for key, value in measured.items()}
    return results


def rows_of(results: dict[str, float]) -> list[tuple]:
    """What both formats were measured at side by side, then the rest."""
    keys = [key.removeprefix("delta_") for key in results if key.startswith("delta_")]
    both = [key for key in keys if f"lance_{key}" in results]
    rows: list[tuple] = [("what", "Delta Lake", "Lance", "ratio")]
    for key in both:
        delta, lance = results[f"delta_{key}"], results[f"lance_{key}"]
        rows.append((key, delta, lance, delta / lance if lance else ""))
    shown = {f"{name}_{key}" for key in both for name in ("delta", "lance")}
    return rows + [(key, value, "", "") for key, value in results.items() if key not in shown]


def main() -> None:
    parts = (*OF_A_FORMAT, *OF_ITSELF)
    asked = bench.options(__doc__.splitlines()[0], needs_data=False, only=parts, numbers=NUMBERS)
    limits = {"windows": 100_000, "vectors": 20_000} if asked.quick else {}
    sizes = (QUICK if asked.quick else FULL) | {
        key: min(getattr(asked, key), limits.get(key, getattr(asked, key))) for key in NUMBERS
    }
    offered, results = formats(), {}
    for part in asked.only or parts:
        bench.note(part)
        results |= measure(part, sizes, offered)
    rows = rows_of(results)
    ratios = {f"delta_over_lance_{key}": ratio for key, _, _, ratio in rows[1:] if ratio != ""}
    bench.report(results | ratios, rows, asked.json)


if __name__ == "__main__":
    main()
