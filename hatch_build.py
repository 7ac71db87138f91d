"""Writes the manifest of the built-in components into the wheel; nothing generated is under version control.

An editable installation needs none: the components of a checkout are read from its files.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManifestHook(BuildHookInterface[Any]):
    """Reads the source files without importing them, so that building needs none of the dependencies."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the manifest and have it packed beside the package's own files."""
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path.insert(0, self.root)
        from audioclass.plugins.builtins import make_builtin_manifest
        from audioclass.plugins.manifests import BUILTIN_MANIFEST

        self._folder = tempfile.TemporaryDirectory()
        manifest = Path(self._folder.name, BUILTIN_MANIFEST)
        manifest.write_text(make_builtin_manifest(Path(self.root, "audioclass")), encoding="utf-8")
        build_data["force_include"][str(manifest)] = f"audioclass/{BUILTIN_MANIFEST}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written for the build."""
        if self.target_name == "wheel" and version != "editable":
            self._folder.cleanup()
