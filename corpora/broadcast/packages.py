"""Free audio from Debian packages: fetched, verified by checksum, and only the sounds that the table names unpacked."""

from __future__ import annotations

import fnmatch
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import soundfile

LABELS = ("speech", "music", "environment")
SINGING = "singing"  # counts as music, as what it is below that
ARCHIVES = (".pk3", ".wz", ".zip")
KEPT = (*ARCHIVES, ".sf2", ".sf3")  # besides what patterns name: archives to look into, sound fonts to play


@dataclass(frozen=True)
class Package:
    """One row of the table: where the sounds of each label are inside the package.

    Patterns are matched against whole paths, `!` in front leaves out; `part` is a pattern whose group names a part of
    the package (a language, a voice), so that no part is drowned by another; packages of one `group` are one source,
    because one author made them. Where parts are `speakers`, by different people at different places, each is a source.
    """

    name: str
    version: str
    sha256: str
    licence: str
    attribution: str
    speech: list[str] = field(default_factory=list)
    music: list[str] = field(default_factory=list)
    environment: list[str] = field(default_factory=list)
    part: str = ""
    registry: str = "debian"  # or npm, or pypi (its source distribution)
    singing: list[str] = field(default_factory=list)  # its files are music
    group: str = ""
    speakers: bool = False

    @property
    def source(self) -> str:
        """What is held out with it."""
        return self.group or self.name

    def label_of(self, path: str) -> str | None:
        """The label under which a file counts, None for those that are not used."""
        if self.is_sung(path):
            return "music"
        return next((label for label in LABELS if _is_chosen(path, getattr(self, label))), None)

    def is_sung(self, path: str) -> bool:
        """Whether a file is a voice that sings."""
        return _is_chosen(path, self.singing)

    def part_of(self, path: str) -> str:
        """The part a file belongs to; one part holds all where the package has none."""
        found = re.search(self.part, path) if self.part else None
        return (found[1] or "") if found else ""

    def author_of(self, path: str) -> str:
        """Who speaks, where parts are speakers."""
        return f"{self.source} {self.part_of(path)}" if self.speakers and self.label_of(path) == "speech" else ""


@dataclass(frozen=True)
class Sound:
    """A file of a package, unpacked, with what it counts as."""

    path: Path
    label: str
    group: str
    part: str
    is_sung: bool = False
    author: str = ""


def read_packages(table: Path) -> list[Package]:
    """The packages of a table, in its order."""
    return [Package(**row) for row in tomllib.loads(table.read_text(encoding="utf-8"))["package"]]


def fetch(package: Package, folder: Path) -> Path:
    """The package file of exactly the recorded version, downloaded unless it is there; its checksum is verified."""
    folder.mkdir(parents=True, exist_ok=True)
    found = _downloaded(package, folder)
    if found is None:
        subprocess.run(_order(package), cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found = _downloaded(package, folder)
    if found is None:
        raise FileNotFoundError(f"{package.name}: the registry left no package file in {folder}")
    digest = _sha256(found)
    if digest != package.sha256:
        raise ValueError(f"{found}: sha256 {digest}, should be {package.sha256}")
    return found


def unpack(package: Package, deb: Path, folder: Path) -> list[Sound]:
    """The sounds of a package as files under the folder; what a run before unpacked is kept."""
    target = folder / package.name
    if not target.exists():
        passing = folder / f"{package.name}.passing"
        shutil.rmtree(passing, ignore_errors=True)
        passing.mkdir(parents=True)
        _unpack_sounds(package, deb, passing)
        passing.rename(target)
    paths = sorted(path for path in target.rglob("*") if path.is_file())
    named = [(path, path.relative_to(target).as_posix()) for path in paths]
    return [_sound(package, path, name) for path, name in named if package.label_of(name)]


def _sound(package: Package, path: Path, name: str) -> Sound:
    part, author = package.part_of(name), package.author_of(name)
    return Sound(path, package.label_of(name), package.source, part, package.is_sung(name), author)


def _unpack_sounds(package: Package, deb: Path, folder: Path) -> None:
    with _opened(package, deb) as archive:
        for member in archive:
            name = member.name.removeprefix("./")
            is_inside = (folder / name).resolve().is_relative_to(folder.resolve())
            if is_inside and member.isfile() and (package.label_of(name) or name.endswith(KEPT)):
                _write(folder / name, archive.extractfile(member).read())
    for inner in [path for path in folder.rglob("*") if path.suffix in ARCHIVES]:
        _unpack_archive(package, inner)
        inner.unlink()
    _decode_reel(folder)


@contextmanager
def _opened(package: Package, path: Path) -> Iterator[tarfile.TarFile]:
    if package.registry != "debian":
        with tarfile.open(path, "r:gz") as archive:
            yield archive
        return
    program = shutil.which("dpkg-deb") or "dpkg-deb"
    with (
        subprocess.Popen([program, "--fsys-tarfile", path], stdout=subprocess.PIPE) as unpacker,
        tarfile.open(fileobj=unpacker.stdout, mode="r|") as archive,
    ):
        yield archive


def _unpack_archive(package: Package, inner: Path) -> None:
    with zipfile.ZipFile(inner) as archive:
        for name in [member.filename for member in archive.infolist() if not member.is_dir()]:
            path = inner.parent / name
            if package.label_of(path.as_posix()) and path.resolve().is_relative_to(inner.parent.resolve()):
                _write(path, archive.read(name))


def _decode_reel(folder: Path) -> None:
    """Telephone prompts without a header become one long recording: one decoder for hundreds of files."""
    for coding, decode in (("g722", _decode_g722), ("gsm", _decode_gsm)):
        prompts = sorted(folder.rglob(f"*.{coding}"))
        if prompts:
            decode(b"".join(path.read_bytes() for path in prompts), prompts[0].parent / f"reel.{coding}.wav")
        for path in prompts:
            path.unlink()


def _decode_g722(together: bytes, reel: Path) -> None:
    program = shutil.which("ffmpeg") or "ffmpeg"
    order = [program, "-v", "error", "-f", "g722", "-i", "-", "-ar", "16000", reel]
    subprocess.run(order, input=together, check=True)


def _decode_gsm(together: bytes, reel: Path) -> None:
    samples, rate = soundfile.read(
        io.BytesIO(together), format="RAW", subtype="GSM610", samplerate=8000, channels=1, dtype="int16"
    )
    soundfile.write(reel, samples, rate)


def _is_chosen(path: str, patterns: list[str]) -> bool:
    """Whether one of the patterns matches and none of those with `!` in front."""
    matching = [pattern for pattern in patterns if fnmatch.fnmatchcase(path, pattern.removeprefix("!"))]
    return bool(matching) and not any(pattern.startswith("!") for pattern in matching)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _order(package: Package) -> list[str]:
    """The command that downloads a package into the folder it runs in."""
    if package.registry == "npm":
        return ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    if package.registry == "pypi":
        pinned = f"{package.name}=={package.version}"
        return [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", pinned]
    return ["apt-get", "-o", "APT::Sandbox::User=root", "download", f"{package.name}={package.version}"]


def _downloaded(package: Package, folder: Path) -> Path | None:
    if package.registry != "debian":
        pattern = f"{package.name.replace('-', '[-_]')}-{package.version}.t*gz"
        return next(iter(sorted(folder.glob(pattern))), None)
    version = package.version.replace(":", "%3a")
    return next(iter(sorted(folder.glob(f"{package.name}_{version}_*.deb"))), None)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
