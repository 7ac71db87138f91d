"""Every test, those of the plugins included: examples are drawn the same way each time, and no test has a deadline."""

from __future__ import annotations

import signal

from hypothesis import settings

# What is started in the background has Ctrl-C ignored, and hands that down: tests of stopping need it heard.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
