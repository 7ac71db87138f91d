"""Annotation documents of ELAN: tiers of annotations that point at slots of time, in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO, ClassVar
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from audioclass.contracts import LabelFormat
from audioclass.data import Result
from audioclass.formats.rows import Tier, tiers_of
from audioclass.formats.texts import milliseconds, one_line
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component

KIND = "default-lt"  # what ELAN calls the type of a tier by default
DOCUMENT = {
    "AUTHOR": "",
    "DATE": "1970-01-01T00:00:00+00:00",  # demanded by the schema; the same table gives the same bytes
    "FORMAT": "3.0",
    "VERSION": "3.0",
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xsi:noNamespaceSchemaLocation": "http://www.mpi.nl/tools/elan/EAFv3.0.xsd",
}
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@component
class Elan:
    """A tier for each recording, called by its file where there are several; overlaps take more tiers.

    A segment without duration is left out: ELAN has no such annotation.
    """

    name: ClassVar[str] = "elan"
    suffix: ClassVar[str] = ".eaf"
    carries_probabilities: ClassVar[bool] = False

    def write(self, result: Result, stream: IO[str]) -> None:
        """One document, with links to the recordings; characters that XML forbids become a question mark."""
        tiers = tiers_of(result)
        document = Element("ANNOTATION_DOCUMENT", DOCUMENT)
        _add_header(document, dict.fromkeys(tier.file for tier in tiers))
        slots = SubElement(document, "TIME_ORDER")
        for tier in tiers:
            _add_tier(document, slots, tier)
        slots[:] = sorted(slots, key=lambda slot: int(slot.attrib["TIME_VALUE"]))
        flags = {"GRAPHIC_REFERENCES": "false", "TIME_ALIGNABLE": "true"}
        SubElement(document, "LINGUISTIC_TYPE", {"LINGUISTIC_TYPE_ID": KIND, **flags})
        indent(document)
        # A carriage return that is not written by its number is read as a line end.
        text = tostring(document, encoding="unicode").replace("\r", "&#13;")
        stream.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')


def _add_header(document: Element, files: Iterable[str]) -> None:
    header = SubElement(document, "HEADER", {"MEDIA_FILE": "", "TIME_UNITS": "milliseconds"})
    for file in files:
        SubElement(header, "MEDIA_DESCRIPTOR", {"MEDIA_URL": quote(file), "MIME_TYPE": "audio/x-wav"})


def _add_tier(document: Element, slots: Element, tier: Tier) -> None:
    name = FORBIDDEN.sub("?", one_line(tier.name))
    element = SubElement(document, "TIER", {"LINGUISTIC_TYPE_REF": KIND, "TIER_ID": name})
    for row in tier.rows:
        start, end = milliseconds(row.start), milliseconds(row.end)
        if end > start:
            first, last = _add_slot(slots, start), _add_slot(slots, end)
            place = {"ANNOTATION_ID": f"a{len(slots) // 2}", "TIME_SLOT_REF1": first, "TIME_SLOT_REF2": last}
            annotation = SubElement(SubElement(element, "ANNOTATION"), "ALIGNABLE_ANNOTATION", place)
            SubElement(annotation, "ANNOTATION_VALUE").text = FORBIDDEN.sub("?", row.label)


def _add_slot(slots: Element, time: int) -> str:
    name = f"ts{len(slots) + 1}"
    SubElement(slots, "TIME_SLOT", {"TIME_SLOT_ID": name, "TIME_VALUE": str(time)})
    return name


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """ELAN's annotation document."""
    return [Elan]
