"""What is wrong with a corpus, and what may surprise: a list of findings, each one line."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from audioclass.curation.inspection import Inspection
from audioclass.data import Clip, Corpus
from audioclass.label_sets import JOIN, labels_of_clips, members_of, overlaps_of, single_labels
from audioclass.recordings import FOLDER, irregularity

FEWEST_GROUPS = 2  # one to train on, one to test on
BEYOND_END = 0.1  # seconds: what label tools round is no mistake

Inspections = Mapping[Path, Inspection]


@dataclass(frozen=True)
class Finding:
    """One thing that was found: of which kind, where, and whether it is wrong or only worth knowing."""

    kind: str
    where: str
    detail: str
    is_wrong: bool = True


def check_corpus(corpus: Corpus, inspections: Inspections, n_folds: int) -> list[Finding]:
    """Everything there is to say, by kind; `n_folds` is how many folds each label should have groups for."""
    finders: tuple[Callable[[Corpus, Inspections], Iterator[Finding]], ...] = (
        _ignored,
        _altered,
        _unreadable,
        _silent,
        _clipped,
        _same_content,
        _labelled_twice,
        _beyond_the_end,
        _parted_groups,
        _without_fold,
        partial(_few_groups, n_folds=n_folds),
        _overlapping,
    )
    return [finding for find in finders for finding in find(corpus, inspections)]


def _ignored(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    """A file that should be there and is not is wrong; anything else was left out for a reason."""
    for ignored in corpus.ignored:
        is_wrong = irregularity(ignored.file) not in ("", FOLDER)
        yield Finding("ignored", str(ignored.file), ignored.reason, is_wrong)


def _altered(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    for path, expected in corpus.checksums.items():
        reason = irregularity(path)
        if not reason:
            with path.open("rb") as file:
                reason = "" if hashlib.file_digest(file, "sha256").hexdigest() == expected else "not what it was"
        if reason:
            yield Finding("checksum", str(path), reason)


def _unreadable(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    for path, inspection in inspections.items():
        if inspection.reason:
            yield Finding("unreadable", str(path), inspection.reason.removeprefix(f"{path}: "))


def _silent(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    for path, inspection in inspections.items():
        if not inspection.reason and inspection.is_silent:
            yield Finding("silent", str(path), f"{inspection.seconds:.2f} s of silence")


def _clipped(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    for path, inspection in inspections.items():
        if inspection.is_clipped:
            detail = f"{100 * inspection.flat:.2g} % of its samples cut off at full scale"
            yield Finding("clipped", str(path), detail, is_wrong=False)


def _same_content(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    """Recordings that sound the same: under other labels or in other groups they spoil what is learnt or measured."""
    clips = _by_file(corpus)
    first: dict[str, Path] = {}
    for path, inspection in inspections.items():
        same = first.setdefault(inspection.content, path)
        if not inspection.content or same == path or inspection.is_silent:
            continue
        labels = [_listed({clip.label for clip in clips[file]}) for file in (same, path)]
        groups = [{clip.group for clip in clips[file]} for file in (same, path)]
        if labels[0] != labels[1]:
            yield Finding("two labels", str(path), f"labelled {labels[1]}, but {same} sounds the same: {labels[0]}")
        elif groups[0] != groups[1]:
            yield Finding("two groups", str(path), f"sounds the same as {same}, which is in another group")
        else:
            yield Finding("duplicate", str(path), f"sounds the same as {same}", is_wrong=False)


def _labelled_twice(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    """One stretch of one recording with several labels, or several times with one."""
    spans: dict[tuple[Path, float, float | None], list[str]] = defaultdict(list)
    for clip in corpus.clips:
        spans[clip.file, clip.start, clip.end].append(clip.label)
    for (path, start, end), labels in spans.items():
        place = str(path) if not start and end is None else f"{path} from {start:g} s"
        if len(set(labels)) > 1:
            yield Finding("two labels", place, f"labelled {_listed(set(labels))}: all of them hold", is_wrong=False)
        elif len(labels) > 1:
            yield Finding("duplicate", place, f"named {len(labels)} times", is_wrong=False)


def _overlapping(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    """That several labels hold at once, which makes a corpus multi-label."""
    joined = [clip for clip in corpus.clips if len(members_of(clip.label)) > 1]
    pairs = list(overlaps_of(corpus.clips))
    reasons = []
    if pairs:
        one, other = pairs[0]
        place = f"{one.label!r} and {other.label!r} at {max(one.start, other.start):g} s of {one.file}"
        count = "1 pair of segments" if len(pairs) == 1 else f"{len(pairs)} pairs of segments"
        reasons.append(f"{count} of different labels overlap, such as {place}")
    if joined:
        count = "1 segment has" if len(joined) == 1 else f"{len(joined)} segments have"
        reasons.append(f"{count} labels joined with {JOIN}, such as {joined[0].label!r}")
    if reasons:
        labels = len(labels_of_clips(corpus.clips))
        yield Finding("multi-label", f"{labels} labels", "; ".join(reasons), is_wrong=False)


def _beyond_the_end(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    for clip in corpus.clips:
        inspection = inspections.get(clip.file)
        if inspection is None or inspection.reason:
            continue
        reach = max(clip.start, clip.end or 0.0)
        if reach > inspection.seconds + BEYOND_END or clip.start >= inspection.seconds:
            detail = f"{clip.label!r} reaches to {reach:g} s, the recording to {inspection.seconds:.2f} s"
            yield Finding("beyond the end", str(clip.file), detail)


def _parted_groups(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    folds: dict[str, set[str]] = defaultdict(set)
    for clip in corpus.clips:
        if clip.fold:
            folds[clip.group].add(clip.fold)
    for group, names in sorted(folds.items()):
        if len(names) > 1:
            yield Finding("parted group", group, f"stands in folds {_listed(names)}")


def _without_fold(corpus: Corpus, inspections: Inspections) -> Iterator[Finding]:
    without = [clip for clip in corpus.clips if not clip.fold]
    if 0 < len(without) < len(corpus.clips):
        detail = f"no fold, nor have {len(without) - 1} other clips; {len(corpus.clips) - len(without)} have one"
        yield Finding("no fold", str(without[0].file), detail)


def _few_groups(corpus: Corpus, inspections: Inspections, n_folds: int) -> Iterator[Finding]:
    groups: dict[str, set[str]] = defaultdict(set)
    for clip in single_labels(corpus.clips):
        groups[clip.label].add(clip.group)
    for label in sorted(groups):
        n = len(groups[label])
        if n < n_folds:
            detail = f"{n} {'group' if n == 1 else 'groups'}, {n_folds} folds need {n_folds}"
            yield Finding("few groups", label, detail, is_wrong=n < FEWEST_GROUPS)


def _by_file(corpus: Corpus) -> Mapping[Path, list[Clip]]:
    clips: dict[Path, list[Clip]] = defaultdict(list)
    for clip in corpus.clips:
        clips[clip.file].append(clip)
    return clips


def _listed(names: set[str]) -> str:
    return ", ".join(map(repr, sorted(names)))
