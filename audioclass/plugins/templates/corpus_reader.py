"""Recordings in one folder, each named after its label: `speech-001.wav`, `dog barking-7.wav`."""

import wave
from pathlib import Path
from typing import ClassVar

from audioclass import component, hookimpl, parameter
from audioclass.contracts import CorpusReader
from audioclass.data import Clip, Corpus, Ignored
from audioclass.errors import CorpusError


@component
class ExampleName:
    """The label is what stands before the last hyphen of a file's name."""

    name: ClassVar[str] = "example_name"
    suffix: str = parameter(".wav", help="of the recordings that count")

    def matches(self, path: Path) -> bool:
        return path.is_dir() and any("-" in file.stem for file in path.glob(f"*{self.suffix}"))

    def read(self, path: Path) -> Corpus:
        if not path.is_dir():
            raise CorpusError(f"{path}: not a folder")
        files = sorted(path.glob(f"*{self.suffix}"))
        named = [file for file in files if file.stem.rpartition("-")[0].strip()]
        clips = [Clip(file, file.stem.rpartition("-")[0].strip(), group=file.name) for file in named]
        ignored = [Ignored(file, "no hyphen after a label in its name") for file in files if file not in named]
        return Corpus(tuple(clips), tuple(ignored))

    def example(self, folder: Path) -> Path:
        for name in ("speech-1", "speech-2", "music-1"):
            with wave.open(str(folder / f"{name}{self.suffix}"), "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", "not compressed"))
                file.writeframes(bytes(1600))
        return folder


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    return [ExampleName]
