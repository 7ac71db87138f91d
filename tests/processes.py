"""Processes of others, whose end is waited for."""

import os
import select

import pytest

needs_processes = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the end of other processes cannot be seen")
PATIENCE = 600  # seconds, for a test to fail that would wait for ever; their end is an event, and nothing waits longer


def assert_ended(processes):
    """Wait until all of them have ended."""
    assert [process for process in processes if not _ends(process)] == []


def _ends(process):
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], PATIENCE)[0])
    finally:
        os.close(handle)
