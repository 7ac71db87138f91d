"""What a cluster costs: recordings classified by local workers of Dask, beside as many jobs, and with a worker killed.

The recordings are clips of ESC-10 one after the other, two minutes each as FLAC; the model is the shipped one. This
process, two jobs, one worker and two workers are taken in turn, all of them started before; of each the best round
counts. Then one of three workers is killed in the middle of the work.
Keys: cluster_over_jobs (time of two workers over that of two jobs), scaling_2 (time of one worker over that of two),
lost (recordings without an outcome when a worker was killed); jobs_scaling_2, overhead_ms (an item on one worker that
does nothing), start_seconds (of two workers), doubled, differing (outcomes of the killed run that are there twice, or
other than those of this process). --quick takes two rounds of a third of the recordings.
"""

import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import bench
import numpy as np
import soundfile

from audioclass.cluster.executor import ClusterExecutor
from audioclass.engine.batches import Outcome, classify_many
from audioclass.engine.models import DEFAULT_MODEL
from audioclass.engine.runs import KEEP_NOTHING, make_run
from audioclass.engine.streaming import DEFAULT_SMOOTHER, SegmentationOptions
from audioclass.run import Executor, executor_for

SECONDS = 120
EMPTY = 300  # items that do nothing
PROCESS = "__import__('os').getpid()"


def write_recordings(data: Path, folder: Path, count: int) -> list[Path]:
    """Recordings of the clips one after the other, each beginning where the one before ended."""
    clips = sorted((data / "audio" / "esc10" / "audio").glob("*.flac"))
    if not clips:
        raise SystemExit(f"{data}: holds no recordings of ESC-10")
    source, paths = cycle(clips), [folder / f"{number}.flac" for number in range(count)]
    rate = soundfile.info(clips[0]).samplerate
    for path in paths:
        missing = SECONDS * rate
        with soundfile.SoundFile(path, "w", rate, 1, "PCM_16") as file:
            while missing:
                samples = soundfile.read(next(source), dtype="float32", always_2d=True)[0][:missing, 0]
                file.write(samples)
                missing -= len(samples)
    return paths


def classify(paths: Sequence[Path], executor: Executor) -> list[Outcome]:
    run = make_run(executor=executor, cache=KEEP_NOTHING)
    options = SegmentationOptions.of(DEFAULT_SMOOTHER, run)
    return list(classify_many(paths, DEFAULT_MODEL, options, run))


def classify_and_kill(paths: Sequence[Path], executor: ClusterExecutor) -> list[Outcome]:
    """The same, one of the workers killed when a quarter is done."""
    workers = set(executor.map(eval, [PROCESS] * 30))
    run = make_run(executor=executor, cache=KEEP_NOTHING)
    options, outcomes = SegmentationOptions.of(DEFAULT_SMOOTHER, run), []
    for outcome in classify_many(paths, DEFAULT_MODEL, options, run):
        outcomes.append(outcome)
        if len(outcomes) == len(paths) // 4:
            os.kill(workers.pop(), signal.SIGKILL)
    return outcomes


def differs(outcome: Outcome, expected: Outcome) -> bool:
    results = outcome.result, expected.result
    if None in results:
        return True
    return results[0].segments != results[1].segments or not np.array_equal(results[0].P, results[1].P)


def start(n_workers: int) -> tuple[ClusterExecutor, float]:
    """Workers that have done something, and how long that took."""
    begun, executor = time.perf_counter(), ClusterExecutor(f"local:{n_workers}")
    list(executor.map(eval, ["0"] * n_workers * 2))
    return executor, time.perf_counter() - begun


def killed(paths: Sequence[Path]) -> dict[str, int]:
    """What a killed worker costs in outcomes."""
    expected = {outcome.path: outcome for outcome in classify(paths, executor_for(1))}
    with ClusterExecutor("local:3") as executor:
        outcomes = classify_and_kill(paths, executor)
    counts = Counter(outcome.path for outcome in outcomes if outcome.result is not None)
    return {
        "lost": sum(counts[path] == 0 for path in paths),
        "doubled": sum(count > 1 for count in counts.values()),
        "differing": sum(differs(outcome, expected[outcome.path]) for outcome in outcomes),
    }


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    count, rounds = (8, 2) if asked.quick else (24, 5)
    with tempfile.TemporaryDirectory() as name:
        paths = write_recordings(asked.data, Path(name), count)
        bench.note(f"{count} recordings, {rounds} rounds")
        one, _ = start(1)
        two, seconds_to_start = start(2)
        executors = {"jobs_1": executor_for(1), "cluster_1": one, "jobs_2": executor_for(2), "cluster_2": two}
        works = {name: (lambda e=executor: classify(paths, e)) for name, executor in executors.items()}
        taken = bench.interleaved(rounds, **works)
        overhead = min(bench.once(lambda: list(one.map(eval, ["0"] * EMPTY))) for _ in range(rounds)) / EMPTY
        one.close()
        two.close()
        bench.note("one of three workers killed")
        outcomes = killed(paths)
    best = {name: min(seconds) for name, seconds in taken.items()}
    results = {
        "cluster_over_jobs": best["cluster_2"] / best["jobs_2"],
        "scaling_2": best["cluster_1"] / best["cluster_2"],
        "lost": outcomes["lost"],
        "jobs_scaling_2": best["jobs_1"] / best["jobs_2"],
        "overhead_ms": 1000 * overhead,
        "start_seconds": seconds_to_start,
        "doubled": outcomes["doubled"],
        "differing": outcomes["differing"],
    }
    rows = [
        ("what", f"seconds for {count} recordings", "over this process"),
        *((name, seconds, seconds / best["jobs_1"]) for name, seconds in best.items()),
        ("an item that does nothing", overhead, ""),
        ("lost, doubled, differing", ", ".join(str(outcomes[name]) for name in ("lost", "doubled", "differing")), ""),
    ]
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
