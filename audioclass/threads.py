"""Linear algebra on one thread: sums in another order end in other digits, and processes bring their own threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Within it, or within a function that it decorates, results do not depend on the number of cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
