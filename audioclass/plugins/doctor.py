"""What ails the plugins: each distribution is imported in a process of its own, so that none can hide the others.

A plugin that crashes the interpreter, hangs or prints at import is a line of the report like any other.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audioclass.hookspecs import PROJECT
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.manager import PluginManager, Quarantined, select_installed
from audioclass.plugins.manifests import write_manifest
from audioclass.plugins.sources import PluginSource

PATIENCE = 60.0


@dataclass(frozen=True)
class Diagnosis:
    """Every entry that works and every distribution that does not, with the seconds that each took to import.

    `outdated` are distributions that work but whose manifest says otherwise than their classes do.
    """

    sources: tuple[PluginSource, ...]
    manager: PluginManager
    seconds: dict[str, float]
    outdated: list[Quarantined]


def diagnose(progress: Callable[[str], None] = lambda _: None, patience: float = PATIENCE) -> Diagnosis:
    """Import every distribution apart from the others, then look for names that two of them offer."""
    installed, missing = select_installed()
    sources = (builtin_source(), *installed)
    manager = PluginManager()
    manager.quarantine += missing
    seconds: dict[str, float] = {}
    outdated = []
    for source in sources:
        progress(source.distribution)
        report = _examine_apart(source, patience)
        if "quarantined" in report:
            manager.quarantine.append(Quarantined(**report["quarantined"]))
        else:
            seconds[source.distribution] = report["seconds"]
            outdated += [_outdated(source, difference) for difference in report["outdated"][:1]]
            manager.admit(dataclasses.replace(source, manifest=report["manifest"]))
    return Diagnosis(sources, manager, seconds, outdated)


def _outdated(source: PluginSource, difference: str) -> Quarantined:
    remedy = f"`audioclass plugins manifest` in the folder of {source.distribution}, then install it again"
    return Quarantined(source.distribution, source.version, "manifest", difference, remedy)


def _examine_apart(source: PluginSource, patience: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "audioclass.plugins.doctor", source.distribution]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return _ailing(source, f"still importing after {patience:.0f} s")
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return _ailing(source, f"Python ended with {done.returncode} while importing it: {reason}", done.stderr)
    return report


def _ailing(source: PluginSource, reason: str, trace: str = "") -> dict[str, Any]:
    mend = f"pip install --force-reinstall {source.distribution}"
    if not source.is_builtin:
        mend += f", or pip uninstall {source.distribution}"
    return {"quarantined": vars(Quarantined(source.distribution, source.version, "import", reason, mend, trace))}


def _examine_here(distribution: str) -> dict[str, Any]:
    """In the process of its own: the manifest of what loads and the seconds it took, or why it does not."""
    with contextlib.suppress(ImportError):  # shared by all and counted for none; who needs it will say that it fails
        import numpy  # noqa: F401
    manager = PluginManager()
    start = time.perf_counter()
    if distribution == PROJECT:
        manager.admit(builtin_source())
    else:
        manager.admit_installed([distribution])
    manager.load_all()
    if manager.quarantine:
        return {"quarantined": vars(manager.quarantine[0])}
    seconds = time.perf_counter() - start
    differences = manager.outdated(manager.entries())
    outdated = [f"{' '.join(key)}: {difference}" for key, difference in differences.items()]
    return {"seconds": seconds, "manifest": write_manifest(manager.entries()), "outdated": outdated}


if __name__ == "__main__":
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a plugin prints, even from C, goes to standard error
    json.dump(_examine_here(sys.argv[1]), results)
    results.close()
