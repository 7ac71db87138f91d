"""Annotation documents of ELAN: tiers of annotations that point at slots of time, in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import IO, ClassVar
from urllib.parse import quote
from xml.etree.ElementTree import Element, ParseError, SubElement, fromstring, indent, tostring

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.rows import POINTS, Tier, tiers_of
from audioclass.formats.texts import milliseconds, one_line, restored
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.text_files import shown, span_of

DOCUMENT_TAG = "ANNOTATION_DOCUMENT"
KIND = "default-lt"  # what ELAN calls the type of a tier by default
DOCUMENT = {
    "AUTHOR": "",
    "DATE": "1970-01-01T00:00:00+00:00",  # demanded by the schema; the same table gives the same bytes
    "FORMAT": "3.0",
    "VERSION": "3.0",
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xsi:noNamespaceSchemaLocation": "http://www.mpi.nl/tools/elan/EAFv3.0.xsd",
}


@component
class Elan:
    r"""A tier for each recording, called by its file where there are several; overlaps take more tiers.

    Labels that may hold at once have a tier each, called by the label.
    ELAN has no annotation without duration: a point in time is one of a millisecond on a tier whose name ends with
    `(points)`. Tabs, line ends and backslashes in a text are written as `\t`, `\n` and `\\`.
    """

    name: ClassVar[str] = "elan"
    suffix: ClassVar[str] = ".eaf"
    carries_probabilities: ClassVar[bool] = False

    tier: str = parameter("", help="name of the tier; empty: all of them are read, `labels` is written")

    def write(self, result: Result, stream: IO[str]) -> None:
        """One document, with links to the recordings."""
        tiers = tiers_of(result, self.tier or "labels", digits=3)
        document = Element(DOCUMENT_TAG, DOCUMENT)
        _add_header(document, dict.fromkeys(tier.file for tier in tiers))
        slots = SubElement(document, "TIME_ORDER")
        for tier in tiers:
            _add_tier(document, slots, tier)
        slots[:] = sorted(slots, key=lambda slot: int(slot.attrib["TIME_VALUE"]))
        flags = {"GRAPHIC_REFERENCES": "false", "TIME_ALIGNABLE": "true"}
        SubElement(document, "LINGUISTIC_TYPE", {"LINGUISTIC_TYPE_ID": KIND, **flags})
        indent(document)
        stream.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(document, encoding="unicode")}\n')

    def read(self, stream: IO[str]) -> Annotations:
        """The annotations that have times of their own; those that refer to others are left out."""
        document = _parsed(stream.read())
        times = {slot.get("TIME_SLOT_ID", ""): slot.get("TIME_VALUE", "") for slot in document.iter("TIME_SLOT")}
        tiers = {tier.get("TIER_ID", ""): tier for tier in document.iter("TIER")}
        if self.tier and tiers and self.tier not in tiers:
            raise CorpusError(f"no tier {self.tier!r}; found: {shown(', '.join(tiers), 200)}")
        segments: list[Segment] = []
        left_out: list[str] = []
        for name, tier in tiers.items():
            if self.tier in ("", name):
                segments += _read_tier(name, tier, times)
                n_timeless = sum(1 for _ in tier.iter("ANNOTATION")) - sum(1 for _ in _timed(tier, times))
                left_out += [f"tier {shown(name)}: {n_timeless} annotations without times"] if n_timeless else []
            else:
                left_out.append(f"tier {shown(name)}: only {self.tier!r} is read")
        return Annotations({"": segments}, tuple(left_out))


# --- writing


def _add_header(document: Element, files: Iterable[str]) -> None:
    header = SubElement(document, "HEADER", {"MEDIA_FILE": "", "TIME_UNITS": "milliseconds"})
    for file in files:
        SubElement(header, "MEDIA_DESCRIPTOR", {"MEDIA_URL": quote(file), "MIME_TYPE": "audio/x-wav"})


def _add_tier(document: Element, slots: Element, tier: Tier) -> None:
    element = SubElement(document, "TIER", {"LINGUISTIC_TYPE_REF": KIND, "TIER_ID": one_line(tier.name)})
    for row in tier.rows:
        start = milliseconds(row.start)
        end = start + 1 if tier.is_of_points else milliseconds(row.end)
        first, last = _add_slot(slots, start), _add_slot(slots, end)
        place = {"ANNOTATION_ID": f"a{len(slots) // 2}", "TIME_SLOT_REF1": first, "TIME_SLOT_REF2": last}
        annotation = SubElement(SubElement(element, "ANNOTATION"), "ALIGNABLE_ANNOTATION", place)
        SubElement(annotation, "ANNOTATION_VALUE").text = one_line(row.label)


def _add_slot(slots: Element, time: int) -> str:
    name = f"ts{len(slots) + 1}"
    SubElement(slots, "TIME_SLOT", {"TIME_SLOT_ID": name, "TIME_VALUE": str(time)})
    return name


# --- reading


def _parsed(text: str) -> Element:
    if "<!DOCTYPE" in text:  # an .eaf has none, and its entities could be of any size
        raise CorpusError("a document type, which an annotation document does not have")
    try:
        document = fromstring(text.removeprefix("\ufeff"))  # noqa: S314 (no document type, hence no entities)
    except (ParseError, ValueError) as error:
        line = error.position[0] if isinstance(error, ParseError) else 1
        raise CorpusError(f"line {line}: no XML: {error}") from error
    if document.tag != DOCUMENT_TAG:
        raise CorpusError(f"line 1: {shown(document.tag)}, not {DOCUMENT_TAG}")
    return document


def _timed(tier: Element, times: Mapping[str, str]) -> Iterator[tuple[str, str, Element]]:
    """Start and end in milliseconds of the annotations whose slots have a time."""
    for annotation in tier.iter("ALIGNABLE_ANNOTATION"):
        start, end = (times.get(annotation.get(f"TIME_SLOT_REF{n}", ""), "") for n in (1, 2))
        if start and end:
            yield start, end, annotation


def _read_tier(name: str, tier: Element, times: Mapping[str, str]) -> Iterator[Segment]:
    is_of_points = POINTS in name
    for first, last, annotation in _timed(tier, times):
        start, end = span_of(f"annotation {annotation.get('ANNOTATION_ID', '')[:40]}", first, last)
        is_point = is_of_points and end - start == 1
        label = restored(annotation.findtext("ANNOTATION_VALUE") or "")
        yield Segment(start / 1000, start / 1000 if is_point else end / 1000, label)


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """ELAN's annotation document."""
    return [Elan]
