"""Work on a cluster: the same results, whatever happens to workers, and nothing left behind."""

import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import dask
import distributed
import numpy as np
import pytest
import soundfile
from processes import assert_ended, needs_processes
from runs import config, recipe, run, segmentation
from trained import LABELS, RATE, sound

from audioclass.classifier.saving import save_model
from audioclass.cli import run as command
from audioclass.cluster import connection, dispatch, tasks
from audioclass.cluster.dispatch import AHEAD_PER_WORKER, ITEMS_PER_WORKER, MAX_DEATHS, Dispatch
from audioclass.cluster.executor import ClusterExecutor
from audioclass.cluster.tasks import Environment, ProcessContext, inspect_environment
from audioclass.engine import archive_segments
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archives import Archive
from audioclass.engine.batches import classify_many, joined
from audioclass.engine.models import ModelFile, loaded
from audioclass.engine.training import train
from audioclass.errors import ClusterError, MissingPackage, UsageError
from audioclass.extraction.batch import extract_batch
from audioclass.extraction.cache import Cache

WORKERS = 3
NUMBER_AND_PROCESS = "({}, __import__('os').getpid(), __import__('time').sleep(0.02))[:2]"
# A client that tells the processes that work for it, and is then ended.
CLIENT = """
import os, signal, sys
from audioclass.cluster.executor import ClusterExecutor

if __name__ == "__main__":
    signal.alarm(600)  # nobody waits for ever
    work = ["__import__('os').getpid()"] * 8 + ["__import__('time').sleep(1000)"] * 8
    results = ClusterExecutor("local:1").map(eval, work)
    print(*{next(results) for _ in range(8)}, flush=True)
    if "kill" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
    next(results)
"""


@pytest.fixture(scope="module")
def cluster():
    """Three workers for all tests of a process; a test that stops what is under way has them started again."""
    with ClusterExecutor(f"local:{WORKERS}") as executor:
        yield executor


@pytest.fixture
def scheduler(cluster):
    """The address of their scheduler."""
    assert list(cluster.map(eval, ["1", "2"])) == [1, 2]
    return cluster._connection._client.scheduler.address


@pytest.fixture
def remote(scheduler):
    """The same workers by the address of their scheduler: what is left undone is cancelled, and they stay."""
    with ClusterExecutor(scheduler) as executor:
        yield executor


# --- the same results


@pytest.fixture
def recordings(tmp_path):
    """Three recordings of each label, and one that is no audio."""
    for number in range(9):
        label = LABELS[number % 3]
        soundfile.write(tmp_path / f"{number} {label}.wav", sound(label, number), RATE)
    (tmp_path / "text.wav").write_text("no audio")
    return sorted(tmp_path.glob("*.wav"))


def test_features_are_the_same_to_the_bit(cluster, recordings, small, tmp_path):
    features, known = [], recipe(str(small / "small.toml"))
    for name, executor in (("here", run().executor), ("there", cluster)):
        several = extract_batch(recordings, known, Cache(tmp_path / name), replace(run(), executor=executor))
        done = {one.path: one for one in several}
        assert "text.wav" in done[recordings[-1]].reason
        features.append([done[path].cached.load(known).X for path in recordings[:-1]])
    assert all(np.array_equal(*pair) for pair in zip(*features, strict=True))


def test_posteriors_are_the_same_to_the_bit(cluster, recordings, model_file):
    results = []
    for executor in (run().executor, cluster):
        outcomes = classify_many(recordings, str(model_file), segmentation(), replace(run(), executor=executor))
        done = {outcome.path: outcome for outcome in outcomes}
        results.append(joined([done[path] for path in recordings], loaded(str(model_file))))
    assert results[0].segments == results[1].segments
    assert np.array_equal(results[0].P, results[1].P)


def test_an_archive_is_the_same_to_the_bit(cluster, recordings, model_file, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_segments, "WINDOWS_A_TASK", 1)
    tables = {}
    for name, executor in (("here", run().executor), ("there", cluster)):
        archive = Archive(str(tmp_path / name), replace(run(), executor=executor))
        added = archive.add(*recordings, model=model_file)
        assert added.n_computed == len(recordings) - len(added.failures)
        tables[name] = [archive.windows().to_arrow(), archive.segments().to_arrow()]
        archive.segment(SegmentChoice("median"))
        tables[name].append(archive.segments().to_arrow())
    assert tables["here"] == tables["there"]


def test_a_model_is_the_same_to_the_byte(cluster, small, tmp_path):
    files = [tmp_path / "here" / "small.audioclass", tmp_path / "there" / "small.audioclass"]
    chosen = {"strategy": "one_vs_one", "trainer": "svm", "criterion": "fixed", "group_weights": "equal"}
    options = config(recipe=str(small / "small.toml"), link="none", second_stage="none", **chosen)
    for file, executor in zip(files, (run().executor, cluster), strict=True):
        file.parent.mkdir()
        where = replace(run(file.parent / "cache"), executor=executor)
        save_model(train(small / "corpus", config=options, name="small", run=where).model, file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_arrays_arrive_as_they_were(cluster):
    arrays = [np.random.default_rng(number).normal(size=(100_000 + number, 3)) for number in range(4)]
    assert list(cluster.map(np.sum, arrays)) == [np.sum(array) for array in arrays]
    (fortran,) = cluster.map_unordered(np.asfortranarray, arrays[:1], None)
    assert fortran.flags.aligned
    assert fortran.flags.f_contiguous
    assert np.array_equal(fortran, arrays[0])


def test_paths_are_those_of_the_working_folder(cluster, tmp_path, monkeypatch):
    (tmp_path / "here.txt").write_text("here")
    monkeypatch.chdir(tmp_path)
    assert list(cluster.map(Path.read_text, [Path("here.txt")] * 3)) == ["here"] * 3


def test_work_has_one_thread(cluster):
    counted = "{one['num_threads'] for one in __import__('threadpoolctl').threadpool_info()} <= {1}"
    assert list(cluster.map(eval, [f"(__import__('numpy'), {counted})[1]"] * 2)) == [True, True]


# --- order, bounds, errors


def test_results_come_in_the_order_of_the_items(cluster):
    items = [f"({number}, __import__('time').sleep({number % 4 / 20}))[0]" for number in range(12)]
    assert list(cluster.map(eval, iter(items))) == list(range(12))
    assert sorted(cluster.map_unordered(eval, items, None)) == list(range(12))


@pytest.mark.parametrize("in_order", [True, False])
def test_few_items_are_drawn_before_they_are_needed(remote, in_order):
    drawn = []
    items = (drawn.append(number) or str(number) for number in range(1000))
    results = remote.map(eval, items) if in_order else remote.map_unordered(eval, items, None)
    with closing(results):
        for n_taken in range(1, 30):
            next(results)
            assert len(drawn) - n_taken <= (2 * ITEMS_PER_WORKER + AHEAD_PER_WORKER * in_order) * WORKERS


def test_what_is_done_early_is_bounded_where_results_come_in_order(remote, tmp_path):
    drawn, far, gate = [], AHEAD_PER_WORKER * WORKERS, tmp_path / "gate"
    wait = f"[__import__('time').sleep(0.05) for _ in range(9999) if not __import__('os').path.exists({str(gate)!r})]"

    def items():
        for number in range(1000):
            drawn.append(number)
            if len(drawn) == far:
                gate.touch()
            yield f"({wait}, __import__('time').sleep(0.3))" if number == 0 else str(number)

    with closing(remote.map(eval, items())) as results:
        next(results)
    assert far <= len(drawn) <= far + 2 * ITEMS_PER_WORKER * WORKERS


def test_an_error_of_the_work_is_raised(cluster):
    with pytest.raises(ZeroDivisionError):
        list(cluster.map(eval, ["2", "1 / 0"]))
    assert list(cluster.map(eval, ["1", "2"])) == [1, 2]


@pytest.mark.parametrize("draw", [list, iter], ids=["sequence", "stream"])
def test_a_single_item_is_done_here(cluster, draw):
    assert list(cluster.map(eval, draw(["__import__('os').getpid()"]))) == [os.getpid()]


# --- workers that die


def test_nothing_is_lost_or_done_twice_where_a_worker_is_killed(cluster):
    results = cluster.map_unordered(eval, [NUMBER_AND_PROCESS.format(number) for number in range(120)], None)
    done = [next(results) for _ in range(20)]
    os.kill(done[-1][1], signal.SIGKILL)
    done += results
    assert sorted(number for number, _ in done) == list(range(120))
    assert len({process for _, process in done}) >= 2


def test_only_the_item_that_kills_its_workers_is_given_up(cluster, tmp_path):
    log = tmp_path / "log"
    deadly = f"(open({str(log)!r}, 'a').write('x'), __import__('os').kill(__import__('os').getpid(), 9))"
    items = [*(str(number) for number in range(10)), deadly, *(str(number) for number in range(10, 30))]
    done = list(cluster.map_unordered(eval, items, lambda item: f"crashed: {item}"))
    assert [one for one in done if isinstance(one, str)] == [f"crashed: {deadly}"]
    assert sorted(one for one in done if isinstance(one, int)) == list(range(30))
    assert log.read_text() == "x" * MAX_DEATHS


def test_a_worker_that_is_slow_to_come_back_is_waited_for(monkeypatch):
    """On a busy machine; here it is slow for those who wait no time at all, and they are all there is."""
    monkeypatch.setattr(dispatch, "WORKER_TIMEOUT", 0.0)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "0s"}), ClusterExecutor("local:1") as executor:
        results = executor.map_unordered(eval, [NUMBER_AND_PROCESS.format(number) for number in range(30)], None)
        done = [next(results)]
        os.kill(done[0][1], signal.SIGKILL)
        done += results
    assert sorted(number for number, _ in done) == list(range(30))


def test_workers_that_cannot_be_started_again_are_an_error(monkeypatch):
    with ClusterExecutor("local:1") as executor:
        results = executor.map_unordered(eval, [NUMBER_AND_PROCESS.format(number) for number in range(500)], None)
        _, process = next(results)
        (nanny,) = executor._connection._cluster.workers.values()
        nanny.close_gracefully()  # as after a start that failed
        os.kill(process, signal.SIGKILL)
        with pytest.raises(ClusterError, match="^cluster local:1: its workers ended and could not be started again$"):
            list(results)


def test_an_item_that_kills_its_workers_is_an_error_where_nobody_answers_for_it(cluster):
    with pytest.raises(ClusterError, match="3 workers died of item 1"):
        list(cluster.map(eval, ["0", "__import__('os')._exit(1)", "2"]))


# --- workers that differ


def refusal(cluster, work=eval):
    with pytest.raises(ClusterError) as caught:
        list(cluster.map(work, ["1", "2"]))
    return str(caught.value)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"numpy": "0.1"}, f"numpy {np.__version__}, here 0.1"),
        ({"audioclass-birds": "2.0"}, "audioclass-birds is not installed, here it is 2.0"),
    ],
    ids=["version", "plugin"],
)
def test_a_worker_with_other_versions_is_named(cluster, monkeypatch, changed, expected):
    versions = {**tasks._versions(), **changed}
    monkeypatch.setattr(tasks, "_versions", lambda: versions)
    message = refusal(cluster)
    assert message.startswith(f"cluster local:{WORKERS}: worker tcp://127.0.0.1:")
    assert message.endswith(f" differs: {expected}")


def test_a_worker_with_another_model_is_named(cluster, model_file, monkeypatch):
    monkeypatch.setattr(tasks, "_digest", lambda path: "another")
    work = partial(classify_nothing, model=ModelFile.of(model_file))
    assert refusal(cluster, work).endswith(f" differs: {model_file} is another file than here")


def classify_nothing(item, model):
    raise AssertionError("a worker that differs was given work")


def test_files_and_folders_must_be_there():
    here = inspect_environment([Path(__file__)], ProcessContext.current())
    there = inspect_environment([Path(__file__)], replace(ProcessContext.current(), folder=Path("/no/such/folder")))
    assert here.differences(here) == []
    texts = here.differences(Environment(here.versions, there.files))
    assert texts == [f"no {path}, which must lie where all machines see it" for path in (Path.cwd(), Path(__file__))]


def test_a_model_that_is_shipped_needs_no_file(model_file):
    assert dispatch.needed_files(partial(classify_nothing, model=ModelFile.of("broadcast"))) == []
    assert dispatch.needed_files(partial(classify_nothing, model=ModelFile.of(model_file))) == [model_file]


def test_a_folder_of_features_tells_itself_from_others(tmp_path):
    marks = [Cache(tmp_path / name).prepare().needed_files() for name in ("one", "other", "one")]
    assert marks[0] == marks[2]
    assert len({mark.read_text() for (mark,) in marks}) == 2
    assert Cache(tmp_path / "nothing").needed_files() == []


class FakeConnection:
    """Workers that do at once what they are told, with an environment of their own."""

    address = "fake"

    def __init__(self, threads, environments=None):
        self.threads, self.environments, self.accepted, self.calls = threads, environments or {}, {}, []
        self.is_local, self.restarts_workers = False, False

    def workers(self):
        return dict(self.threads)

    def submit(self, worker, function, *arguments, rank=0):
        self.calls.append((worker, function.__name__))
        is_known = function is inspect_environment and worker in self.environments
        return self.environments[worker] if is_known else function(*arguments)

    def when_done(self, future, callback):
        callback(None, future) if isinstance(future, BaseException) else callback(future, None)

    def cancel(self, futures):
        pass


def test_a_worker_with_several_threads_is_refused():
    with pytest.raises(ClusterError, match=r"worker a differs: 4 threads, must have one \(--nthreads 1\)"):
        list(Dispatch(FakeConnection({"a": 4}), eval).finished(["1"]))


def test_a_worker_without_audioclass_is_refused():
    environments = {"a": ModuleNotFoundError("No module named 'audioclass'")}
    with pytest.raises(ClusterError, match=r"worker a differs: .*'audioclass'; audioclass \S+ must be installed there"):
        list(Dispatch(FakeConnection({"a": 1}, environments), eval).finished(["1"]))


def test_a_worker_that_comes_later_and_differs_is_not_used(monkeypatch):
    monkeypatch.setattr(dispatch, "UPDATE_INTERVAL", 0.0)
    there = FakeConnection({"a": 1}, {"b": Environment({"audioclass": "0.0"}, {})})
    results = Dispatch(there, eval).finished(map(str, range(100)))
    done = [next(results).value]
    there.threads = {"a": 1, "b": 1, "c": 1}
    with pytest.warns(UserWarning, match="worker b differs: .*audioclass 0.0, here .*; it is not used"):
        done += [one.value for one in results]
    assert sorted(done) == list(range(100))
    assert {function for worker, function in there.calls if worker == "b"} == {"inspect_environment"}
    assert [function for worker, function in there.calls if worker == "c"][:3] == [
        "inspect_environment",
        "receive",
        "run_item",
    ]


def test_a_cluster_without_workers_is_an_error(monkeypatch):
    monkeypatch.setattr(dispatch, "WORKER_TIMEOUT", 0.0)
    with pytest.raises(ClusterError, match="cluster fake: no worker for 0 s"):
        list(Dispatch(FakeConnection({}), eval).finished(["1"]))


def test_a_worker_that_is_slow_to_answer_is_there(monkeypatch):
    monkeypatch.setattr(dispatch, "WORKER_TIMEOUT", 0.0)
    monkeypatch.setattr(dispatch, "UPDATE_INTERVAL", 0.0)
    there, n_looked = FakeConnection({"a": 1}), iter(range(100))
    callbacks, when_done = [], there.when_done
    there.when_done = lambda *asked: callbacks.append(asked)

    def workers():
        if next(n_looked) == 20:
            there.when_done = when_done
            when_done(*callbacks.pop())
        return {"a": 1}

    there.workers = workers
    assert [one.value for one in Dispatch(there, eval).finished(["1", "2"])] == [1, 2]


def test_one_that_does_not_answer_holds_up_nobody_for_ever(monkeypatch):
    monkeypatch.setattr(dispatch, "WORKER_TIMEOUT", 0.0)
    there = FakeConnection({"a": 1, "b": 1}, {"b": "busy"})
    when_done = there.when_done
    there.when_done = lambda future, callback: None if future == "busy" else when_done(future, callback)
    assert [one.value for one in Dispatch(there, eval).finished(["1", "2"])] == [1, 2]
    assert {function for worker, function in there.calls if worker == "b"} == {"inspect_environment"}


def test_workers_that_went_away_are_waited_for(monkeypatch):
    monkeypatch.setattr(dispatch, "WORKER_TIMEOUT", 0.0)
    monkeypatch.setattr(dispatch, "UPDATE_INTERVAL", 0.0)
    there = FakeConnection({"a": 1})
    results = Dispatch(there, eval).finished(map(str, range(100)))
    done = [next(results).value]
    there.threads, n_told = {}, []

    def told(message, **_):
        n_told.append(message)
        there.threads = {"b": 1} if len(n_told) == 3 else {}

    monkeypatch.setattr(warnings, "warn", told)
    done += [one.value for one in results]
    assert sorted(done) == list(range(100))
    assert set(n_told) == {"cluster fake: no worker for 0 s; the rest is done when there is one again"}


def test_nobody_waits_for_a_worker_where_all_is_done(monkeypatch):
    monkeypatch.setattr(dispatch, "UPDATE_INTERVAL", 0.0)
    there = FakeConnection({"a": 1})
    results = Dispatch(there, eval).finished(["1", "2"])
    done = [next(results).value]
    there.threads = {}
    assert [*done, *(one.value for one in results)] == [1, 2]


# --- addresses


def test_a_scheduler_is_found_by_its_address_or_its_file(scheduler, tmp_path):
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": scheduler}))
    for address in (scheduler, scheduler.removeprefix("tcp://"), str(tmp_path / "scheduler.json")):
        with ClusterExecutor(address) as executor:
            assert list(executor.map(eval, ["1", "2"])) == [1, 2]


def test_an_address_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"^cluster {address}: no scheduler answers within 0.5 s$"):
            next(ClusterExecutor(address).map(eval, ["1", "2"]))


def test_what_is_no_scheduler_is_told(cluster, scheduler):
    worker = next(iter(cluster._connection.workers()))
    for address in (worker, "nonsense://there"):
        with pytest.raises(ClusterError, match=f"^cluster {address}: what answers there is no scheduler of Dask$"):
            next(ClusterExecutor(address).map(eval, ["1", "2"]))


@pytest.mark.parametrize("address", ["", "local", "local:x", "somewhere"])
def test_an_address_that_cannot_be_one_is_refused(address):
    with pytest.raises(UsageError, match=f"^cluster '{address}' must be local:N, the address of a scheduler"):
        ClusterExecutor(address)


def test_a_file_that_is_not_that_of_a_scheduler_is_refused(tmp_path):
    (tmp_path / "bad.json").write_text("[]")
    for name, reason in (("bad.json", "not the file of a scheduler"), ("none.json", "No such file or directory")):
        with pytest.raises(UsageError, match=f"{name}: {reason}"):
            next(ClusterExecutor(str(tmp_path / name)).map(eval, ["1", "2"]))


def test_no_number_of_workers_is_one_for_each_core(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert [connection.local_workers(address) for address in ("local:0", "local:2", "localhost:8786")] == [7, 2, 0]


def test_without_the_package_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackage, match=r"--cluster needs distributed .*: pip install 'audioclass\[cluster\]'"):
        ClusterExecutor("local:2")


def test_a_scheduler_that_goes_away_is_one_line():
    with ClusterExecutor("local:1") as held:
        list(held.map(eval, ["1", "2"]))
        executor = ClusterExecutor(held._connection._client.scheduler.address)
        results = executor.map(eval, ["1"] * 3 + ["__import__('time').sleep(1000)"] * 3)
        assert next(results) == 1
        held.close()
        with pytest.raises(ClusterError, match="the scheduler is gone"):
            list(results)
        executor.close()


def test_logs_of_dask_are_silent_until_the_last_connection_is_closed(cluster, scheduler):
    logger, first, second = logging.getLogger("distributed"), ClusterExecutor(scheduler), ClusterExecutor(scheduler)
    for executor in (first, second):
        assert list(executor.map(eval, ["1", "2"])) == [1, 2]
        first.close()
        assert not logger.isEnabledFor(logging.CRITICAL)
    second.close()


@pytest.mark.parametrize("times", [1, 3])
def test_a_greeting_that_comes_with_other_messages_is_asked_for_again(cluster, scheduler, monkeypatch, times):
    greeted = []
    send = distributed.scheduler.BatchedSend.send

    def crowded(self, *messages):
        if messages[0].get("op") == "stream-start":
            greeted.append(self)
            messages += ({"op": "cancelled-keys", "keys": []},) * (len(greeted) <= times)
        send(self, *messages)

    monkeypatch.setattr(distributed.scheduler.BatchedSend, "send", crowded)
    loops = n_loops()
    with ClusterExecutor(scheduler) as executor:
        assert list(executor.map(eval, ["1", "2"])) == [1, 2]
    assert len(greeted) == times + 1
    assert n_loops() == loops


def n_loops():
    return sum(thread.name == "IO loop" for thread in threading.enumerate())


# --- nothing is left behind


@needs_processes
def test_workers_end_with_an_iteration_that_is_given_up():
    executor = ClusterExecutor("local:2")
    results = executor.map(eval, ["__import__('os').getpid()"] * 8 + ["__import__('time').sleep(1000)"] * 8)
    workers = {next(results) for _ in range(8)}
    results.close()
    assert_ended(workers)
    with warnings.catch_warnings(action="error"):
        executor.close()


@pytest.mark.parametrize("how", ["kill", "interrupt", "terminate"])
@needs_processes
def test_workers_end_when_their_client_is_stopped(how, tmp_path):
    script = tmp_path / "client.py"
    script.write_text(CLIENT)
    client = subprocess.Popen(
        [sys.executable, str(script), how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = [int(number) for number in client.stdout.readline().split()]
    assert workers
    if how != "kill":
        client.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGTERM)
    client.communicate()
    assert_ended(workers)


def test_what_is_cancelled_on_other_machines_never_begins(scheduler, tmp_path):
    log, gate = tmp_path / "log", tmp_path / "gate"
    wait = f"[__import__('time').sleep(0.05) for _ in iter(__import__('pathlib').Path({str(gate)!r}).exists, True)]"
    item = f"(open({str(log)!r}, 'a').write('x'), {wait})"
    with ClusterExecutor(scheduler) as executor:
        results = executor.map_unordered(eval, ["1", *[item] * 20], None)
        assert next(results) == 1
        results.close()
        run_on_workers = executor._connection._client.run  # a lambda goes there as it is, a function by its module
        while any(run_on_workers(lambda dask_worker: len(dask_worker.state.ready)).values()):
            time.sleep(0.05)
        gate.touch()
        assert len(list(executor.map(eval, ["1"] * 20))) == 20  # each worker gets to them after what it has
    assert (log.read_text() if log.exists() else "").count("x") <= WORKERS


# --- the command line


def test_a_command_prints_the_same_and_ends_its_workers(recordings, model_file, capfd):
    folder, outputs = str(recordings[0].parent), []
    for options in ([], ["--cluster", "local:1"]):
        assert command(["classify", folder, "--model", str(model_file), *options]) == 1
        outputs.append(capfd.readouterr())
    assert outputs[0].out == outputs[1].out
    assert [line.split(" in ")[0] for line in outputs[0].err.splitlines()] == [
        line.split(" in ")[0] for line in outputs[1].err.splitlines()
    ]
    assert "distributed" not in outputs[1].err


@pytest.mark.parametrize("where", [["--jobs", "2"], ["--cluster", "local:2"]], ids=["jobs", "cluster"])
@pytest.mark.parametrize("name", ["classify", "extract"])
def test_a_pipe_is_read_here(recordings, model_file, where, name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(recordings[0].read_bytes())))
    options = ["--no-cache"] if name == "extract" else []
    assert command([name, "-", "--model", str(model_file), *where, *options]) == 0
    assert "1 of 1 recordings" in capsys.readouterr().err


def test_the_number_of_jobs_is_refused_beside_a_cluster(tmp_path, capsys):
    soundfile.write(tmp_path / "tone.wav", sound("tone", 0), RATE)
    assert command(["classify", str(tmp_path), "--cluster", "local:2", "--jobs", "2"]) == 2
    assert capsys.readouterr().err == "--cluster goes without --jobs: its workers are all there are\n"
