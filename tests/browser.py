"""Pages as headless Chromium shows them; where there is no browser to ask, a test is skipped and says why."""

from __future__ import annotations

import contextlib
import shutil

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextlib.contextmanager
def shown(path, **options):
    """(page, complaints) of a file opened offline; complaints are errors of the console, of scripts and of loading.

    `options` are those of a browser context: `color_scheme="dark"`, `viewport={"width": 400, "height": 800}`.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, which is not installed")
    if CHROMIUM is None:
        pytest.skip("needs Chromium, which is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(offline=True, **options).new_page()
        complaints = []
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        # A player that seeks gives up what it was loading: that is no failure.
        page.on("requestfailed", lambda r: complaints.append(r.url[:100]) if r.failure != "net::ERR_ABORTED" else None)
        page.goto(path.as_uri())
        yield page, complaints
        browser.close()
