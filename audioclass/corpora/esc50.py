"""ESC-50 as it is published: `meta/esc50.csv` beside `audio/`; its folds, and groups by the source recording."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from audioclass.contracts import CorpusReader
from audioclass.corpora.tones import write_tone
from audioclass.data import Clip, Corpus, Ignored
from audioclass.errors import CorpusError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.recordings import irregularity
from audioclass.text_files import TableRow, label_of, read_rows, shown

TABLE = Path("meta", "esc50.csv")
COLUMNS = ("filename", "fold", "category", "esc10", "src_file")


@component
class Esc50:
    """ESC-50 as published: meta/esc50.csv and audio/, or only its ESC-10 part."""

    name: ClassVar[str] = "esc50"
    esc10: bool = parameter(False, help="only the ten labels of ESC-10")

    def matches(self, path: Path) -> bool:
        """By the table; one that is empty or has other columns is for `read` to refuse."""
        return not irregularity(path / TABLE)

    def read(self, path: Path) -> Corpus:
        """Entries in the order of the table; clips that are not there are ignored."""
        rows = [row for row in read_rows(path / TABLE, COLUMNS) if not self.esc10 or _is_esc10(row)]
        clips = [_clip(row, path / "audio") for row in rows]
        reasons = [irregularity(clip.file) for clip in clips]
        pairs = list(zip(clips, reasons, strict=True))
        ignored = tuple(Ignored(clip.file, reason, (clip.label,)) for clip, reason in pairs if reason)
        return Corpus(tuple(clip for clip, reason in pairs if not reason), ignored, sources=(path / TABLE,))

    def example(self, folder: Path) -> Path:
        """Four clips of two labels from three sources."""
        clips = [(1, 100, "A", 0, "dog"), (1, 100, "B", 0, "dog"), (2, 200, "A", 0, "dog"), (2, 300, "A", 1, "rooster")]
        lines = ["filename,fold,target,category,esc10,src_file,take"]
        for i, (fold, source, take, target, category) in enumerate(clips):
            name = f"{fold}-{source}-{take}-{target}.wav"
            write_tone(folder / "audio" / name, 200 * (i + 1))
            lines.append(f"{name},{fold},{target},{category},True,{source},{take}")
        (folder / "meta").mkdir()
        (folder / TABLE).write_text("\n".join([*lines, ""]), encoding="utf-8")
        return folder


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer ESC-50."""
    return [Esc50]


def _is_esc10(row: TableRow) -> bool:
    flag = row.get("esc10").lower()
    if flag not in ("true", "false"):
        raise CorpusError(f"{row.where}: esc10 {shown(flag)} must be True or False")
    return flag == "true"


def _clip(row: TableRow, folder: Path) -> Clip:
    name = row.get("filename")
    if not name or Path(name).name != name:
        raise CorpusError(f"{row.where}: filename {shown(name)} must be the name of a file in audio/")
    label = label_of(row.where, row.get("category"))
    return Clip(folder / name, label, group=row.get("src_file") or name, fold=row.get("fold"))
