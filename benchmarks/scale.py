"""What a million hours of audio would cost, and what would break first: on paper, from figures that were measured.

Every input is an option. Defaults were measured on one machine with two cores by `classification.py` (speed) and
`table_formats.py` (bytes, commits, neighbours), or are assumed: prices, the store of the audio and its size. Three
tables: what all of it costs; up to how many cores each shared thing keeps up; and a simulation of writers that commit
to one table, each again and again until no other came in between. The milliseconds that a task costs the scheduler of
Dask are measured where `distributed` is installed, with a bounded number in flight, and printed beside the input.
Keys: windows, stored_tb, n_tasks, core_hours, money_per_1000_hours, breaks_first, cores_<thing>, commits_<way>_<n> and
retries_<way>_<n> for n writers, task_ms_measured.
"""

import heapq
import logging
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib.util import find_spec

import bench
import numpy as np

NUMBERS = {
    "hours": (1_000_000.0, "hours of audio"),
    "recording_hours": (1.0, "hours of a recording; a recording is a task"),
    "speed": (717.0, "how many times faster than real time one core classifies"),
    "hop": (1.0, "seconds from one window to the next"),
    "bytes_per_window": (158.0, "bytes of a window in the table, vector included"),
    "audio_mb_per_hour": (60.0, "megabytes of an hour of audio: 16 kHz, one channel, FLAC"),
    "read_mb_per_second": (1000.0, "megabytes a second that the store of the audio gives to all readers together"),
    "batch": (64, "recordings of one commit"),
    "rows_per_second": (280_000.0, "windows a second that a writer turns into a file"),
    "commit_ms": (10.0, "milliseconds of a commit to a small table, its rows not counted"),
    "commit_us_per_file": (20.0, "microseconds that each file of the table adds to a commit"),
    "compact_mb_per_second": (80.0, "megabytes a second that compaction rewrites"),
    "file_mb": (1000.0, "megabytes of a compacted file"),
    "task_ms": (3.0, "milliseconds of the scheduler for a task"),
    "index_bytes": (280.0, "bytes of a vector in an HNSW index, graph included"),
    "index_per_second": (2000.0, "vectors a second that one core puts into an HNSW index"),
    "core_hour_price": (0.04, "price of a core for an hour, in dollars"),
    "gb_month_price": (0.023, "price of a gigabyte for a month, in dollars"),
}
AS_ADVISED = ("reading", "scheduler", "compaction", "commits_of_batches")  # of what `most_cores` tells
WRITERS = (1, 4, 16, 64, 256, 1024)
N_STARTS = 256  # of digests: their first two figures
SPREAD = 0.3  # a commit takes up to so much less or more than its mean


@dataclass(frozen=True)
class Inputs:
    """What the paper is computed from; `NUMBERS` says what each is."""

    hours: float
    recording_hours: float
    speed: float
    hop: float
    bytes_per_window: float
    audio_mb_per_hour: float
    read_mb_per_second: float
    batch: int
    rows_per_second: float
    commit_ms: float
    commit_us_per_file: float
    compact_mb_per_second: float
    file_mb: float
    task_ms: float
    index_bytes: float
    index_per_second: float
    core_hour_price: float
    gb_month_price: float

    @property
    def n_windows(self) -> float:
        return self.hours * 3600 / self.hop

    @property
    def n_tasks(self) -> float:
        return self.hours / self.recording_hours

    @property
    def n_commits(self) -> float:
        return self.n_tasks / self.batch

    @property
    def stored_bytes(self) -> float:
        return self.n_windows * self.bytes_per_window

    @property
    def task_seconds(self) -> float:
        """How long a core is busy with one recording."""
        return self.recording_hours * 3600 / self.speed

    @property
    def n_files(self) -> float:
        """How many files there are after compaction."""
        return self.stored_bytes / 1e6 / self.file_mb

    def commit_seconds(self, n_recordings: float, n_files: float) -> float:
        """How long it takes to write so many recordings and to commit them to a table of so many files."""
        writing = n_recordings * self.recording_hours * 3600 / self.hop / self.rows_per_second
        return writing + self.commit_ms / 1e3 + n_files * self.commit_us_per_file / 1e6


def costs(inputs: Inputs) -> dict[str, float]:
    """What all of it costs, by key."""
    core_hours = inputs.hours / inputs.speed
    return {
        "windows": inputs.n_windows,
        "stored_tb": inputs.stored_bytes / 1e12,
        "n_tasks": inputs.n_tasks,
        "core_hours": core_hours,
        "scheduler_hours": inputs.n_tasks * inputs.task_ms / 3.6e6,
        "n_commits": inputs.n_commits,
        "mb_per_file": inputs.stored_bytes / inputs.n_commits / 1e6,
        "files_compacted": inputs.n_files,
        "compaction_hours": inputs.stored_bytes / 1e6 / inputs.compact_mb_per_second / 3600,
        "commit_ms_first": 1000 * inputs.commit_seconds(inputs.batch, 0),
        "commit_ms_last": 1000 * inputs.commit_seconds(inputs.batch, inputs.n_commits),
        "commit_ms_last_single": 1000 * inputs.commit_seconds(1, inputs.n_tasks),
        "index_gb_100_million": 1e8 * inputs.index_bytes / 1e9,
        "index_gb": inputs.n_windows * inputs.index_bytes / 1e9,
        "index_build_hours": inputs.n_windows / inputs.index_per_second / 3600,
        "money": core_hours * inputs.core_hour_price,
        "money_per_1000_hours": 1000 * inputs.core_hour_price / inputs.speed,
        "storage_per_month": inputs.stored_bytes / 1e9 * inputs.gb_month_price,
    }


def most_cores(inputs: Inputs) -> dict[str, float]:
    """Up to how many cores each shared thing keeps up with all of them, at the size that the table has in the end."""
    tasks_per_second = 1 / inputs.task_seconds  # of one core
    written = inputs.speed / inputs.hop * inputs.bytes_per_window / 1e6  # megabytes a second of one core

    def committing(n_recordings: float, n_files: float) -> float:
        return n_recordings / inputs.commit_seconds(n_recordings, n_files) / tasks_per_second

    return {
        "reading": inputs.read_mb_per_second / (inputs.speed / 3600 * inputs.audio_mb_per_hour),
        "scheduler": 1000 / inputs.task_ms / tasks_per_second,
        "compaction": inputs.compact_mb_per_second / written,
        "commits_of_batches": committing(inputs.batch, inputs.n_files),
        "commits_of_recordings": committing(1, inputs.n_files),
        "batches_never_compacted": committing(inputs.batch, inputs.n_commits),
        "recordings_never_compacted": committing(1, inputs.n_tasks),
    }


@dataclass(frozen=True)
class CommitLoad:
    """Of writers that commit to one table: commits a second, attempts that failed for one that did not, and the share
    of their time that writers wait for a commit.
    """

    per_second: float
    retries: float
    waiting: float


def simulate_commits(
    n_writers: int,
    work_seconds: float,
    commit_seconds: float,
    rng: np.random.Generator,
    *,
    conflict: float = 1.0,
    n_commits: int = 2000,
) -> CommitLoad:
    """Writers work, then try to commit until no other commit that conflicts ended while theirs ran.

    Any two commits conflict with the probability `conflict`. Nobody waits before another try, and a try takes as long
    as the first. `n_commits` are simulated.
    """

    def attempt(now: float) -> float:
        return now + commit_seconds * rng.uniform(1 - SPREAD, 1 + SPREAD)

    events = [(rng.uniform(0, work_seconds), writer, None) for writer in range(n_writers)]  # when, who, try begun
    heapq.heapify(events)
    ready: dict[int, float] = {}  # since when a writer has something to commit
    ended: list[float] = []
    waited, n_tries, now = 0.0, 0, 0.0
    while len(ended) < n_commits:
        now, writer, begun = heapq.heappop(events)
        if begun is None:
            ready[writer] = now
        else:
            n_tries += 1
            n_between = len(ended) - bisect_right(ended, begun)
            if n_between == 0 or rng.random() < (1 - conflict) ** n_between:
                ended.append(now)
                waited += now - ready.pop(writer)
                heapq.heappush(events, (now + work_seconds * rng.uniform(0.5, 1.5), writer, None))
                continue
        heapq.heappush(events, (attempt(now), writer, now))
    waited += sum(now - since for since in ready.values())
    return CommitLoad(len(ended) / now, n_tries / len(ended) - 1, waited / (n_writers * now))


WAYS = {"batches": "a commit for each batch", "single": "for each recording", "by_content": "the same, by content"}


def commit_loads(inputs: Inputs, n_commits: int) -> Iterator[tuple[str, int, float, CommitLoad]]:
    """For each way to commit and number of writers, one a core: the commits a second that they need, and what they get.

    By content, commits conflict where the digests of their recordings start alike.
    """
    for way in WAYS:
        n_recordings = inputs.batch if way == "batches" else 1
        work, seconds = n_recordings * inputs.task_seconds, inputs.commit_seconds(n_recordings, inputs.n_files)
        conflict = 1 / N_STARTS if way == "by_content" else 1.0
        for n in WRITERS:
            rng = np.random.default_rng(0)
            yield way, n, n / work, simulate_commits(n, work, seconds, rng, conflict=conflict, n_commits=n_commits)


def nothing(number: int) -> int:
    """The task whose cost is all overhead."""
    return number


def measured_task_ms(n_tasks: int, in_flight: int = 256) -> float | None:
    """Milliseconds of a task that does nothing, the best of three; None where there is no scheduler to measure."""
    if find_spec("distributed") is None:
        bench.note("distributed is not installed: tasks are not measured")
        return None
    from distributed import Client, LocalCluster, as_completed

    def all_tasks() -> None:
        waiting = iter(range(in_flight, n_tasks))
        running = as_completed(client.map(nothing, range(min(in_flight, n_tasks)), pure=False))
        for _ in running:
            for number in waiting:
                running.add(client.submit(nothing, number, pure=False))
                break

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR) as cluster,
        Client(cluster) as client,
    ):
        all_tasks()
        return min(1000 * bench.once(all_tasks) / n_tasks for _ in range(3))


UNITS = {
    "windows": "windows",
    "stored_tb": "TB of windows",
    "n_tasks": "tasks",
    "core_hours": "hours of a core to classify",
    "scheduler_hours": "hours of the scheduler",
    "n_commits": "commits, and files before compaction",
    "mb_per_file": "MB of a file before compaction",
    "files_compacted": "files after compaction",
    "compaction_hours": "hours to rewrite all once",
    "commit_ms_first": "ms of the first commit",
    "commit_ms_last": "ms of the last, never compacted",
    "commit_ms_last_single": "ms of the last, a commit for each recording, never compacted",
    "index_gb_100_million": "GB of an HNSW index of 100 million windows",
    "index_gb": "GB of an HNSW index of all",
    "index_build_hours": "hours of a core to build it",
    "money": "dollars to classify all",
    "money_per_1000_hours": "dollars for 1000 hours",
    "storage_per_month": "dollars a month to keep the windows",
}


def figure(value: float) -> str:
    """Short, whatever its size."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], needs_data=False, numbers=NUMBERS)
    inputs = Inputs(**{field.name: getattr(asked, field.name) for field in fields(Inputs)})
    spent, cores = costs(inputs), most_cores(inputs)
    loads = list(commit_loads(inputs, n_commits=100 if asked.quick else 1000))
    task_ms = None if asked.quick else measured_task_ms(4000)
    results = {
        **spent,
        **{f"cores_{thing}": most for thing, most in cores.items()},
        "breaks_first": min(AS_ADVISED, key=cores.get),
        **{f"commits_{way}_{n}": load.per_second for way, n, _, load in loads},
        **{f"retries_{way}_{n}": load.retries for way, n, _, load in loads},
        "task_ms_measured": task_ms,
    }
    if asked.json:
        bench.report(results, [], as_json=True)
        return
    tables = [
        [("figure", "of what"), *((figure(value), UNITS[key]) for key, value in spent.items())],
        [("keeps up", "cores"), *((thing.replace("_", " "), figure(most)) for thing, most in cores.items())],
        [
            ("commits", "writers", "needed a second", "done", "retries of one", "share of time waiting"),
            *((WAYS[way], n, need, load.per_second, load.retries, load.waiting) for way, n, need, load in loads),
        ],
    ]
    if task_ms is not None:
        tables.append([("milliseconds of a task", "measured"), (f"{inputs.task_ms:.3f}", task_ms)])
    for table in tables:
        bench.report({}, table, as_json=False)
        print()


if __name__ == "__main__":
    main()
