"""Processes that work for another: none is left behind."""

import os
import signal
import subprocess
import sys

import pytest
from processes import assert_ended, needs_processes

from audioclass.run import ProcessExecutor, SerialExecutor, executor_for

# The processes that did four items, told by themselves; they then wait for more.
WORKERS = """
import os, signal
from audioclass.run import ProcessExecutor
work = ["(__import__('time').sleep(0.2), __import__('os').getpid())[1]"] * 4
print(*set(ProcessExecutor(2).map(eval, work)), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@needs_processes
def test_workers_end_when_their_parent_is_killed():
    done = subprocess.run([sys.executable, "-c", WORKERS], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    assert done.stderr == ""
    workers = [int(number) for number in done.stdout.split()]
    assert workers
    assert_ended(workers)


@needs_processes
def test_workers_end_with_an_iteration_that_is_given_up():
    results = ProcessExecutor(2).map(eval, ["__import__('os').getpid()"] * 50)
    worker = next(results)
    results.close()
    assert_ended([worker])
    assert worker != os.getpid()


def test_workers_leave_interrupts_to_their_parent():
    masks = list(ProcessExecutor(2).map(eval, ["__import__('signal').pthread_sigmask(0, [])"] * 3))
    assert all(signal.SIGINT in mask for mask in masks)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("draw", [list, iter], ids=["sequence", "stream"])
def test_a_single_item_is_done_here(draw):
    assert list(ProcessExecutor(2).map(eval, draw(["__import__('os').getpid()"]))) == [os.getpid()]


def test_items_that_come_as_a_stream_are_drawn_when_they_are_needed_and_may_fail():
    drawn = []

    def items():
        for number in range(100):
            drawn.append(number)
            yield str(number)
            if number == 20:
                raise OSError("no more of them")

    results = ProcessExecutor(2).map(eval, items())
    assert len(drawn) <= 2
    with pytest.raises(OSError, match="no more of them"):
        list(results)
    assert drawn == list(range(21))


def test_no_number_of_jobs_is_a_process_for_each_core(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert executor_for(0) == ProcessExecutor(3)
    assert executor_for(2) == ProcessExecutor(2)
    assert executor_for(1) == SerialExecutor()
