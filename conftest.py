"""Every test, those of the plugins included: examples are drawn the same way each time, and no test has a deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
