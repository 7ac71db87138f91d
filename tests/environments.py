"""Environments of their own, in which tests install plugins with pip as a user would, without downloading."""

import os
import subprocess
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
OFFLINE = ("--no-build-isolation", "--no-index", "--quiet")


@dataclass(frozen=True)
class Environment:
    """A virtual environment that sees the packages of the one the tests run in, and adds its own."""

    folder: Path

    def run(self, *command: str, cwd: Path | None = None, check: bool = False, **variables: str):
        """Run a program of the environment; its output is text."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        foreign = ("AUDIOCLASS_PLUGINS", "AUDIOCLASS_STRICT", "PYTHONPATH")
        inherited = {name: value for name, value in os.environ.items() if name not in foreign}
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd or self.folder,
            env={**inherited, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables},
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def install(self, *folders: Path) -> None:
        self.run("python", "-m", "pip", "install", *OFFLINE, "--no-deps", *map(str, folders), check=True)

    def audioclass(self, *arguments: str, **variables: str):
        return self.run("audioclass", *arguments, **variables)


def make_environment(folder: Path, source: Path = REPOSITORY) -> Environment:
    """A new environment with audioclass installed from this repository, or from another source tree."""
    venv.create(folder, with_pip=True)
    environment = Environment(folder)
    own = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    shared = sysconfig.get_path("purelib")
    Path(own, "shared.pth").write_text(f"import site; site.addsitedir({shared!r})\n")
    environment.install(source)
    return environment
