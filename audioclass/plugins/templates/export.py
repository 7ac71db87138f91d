"""Start, end, posterior and label of each segment, separated by tabs."""

from typing import ClassVar

from audioclass import component, hookimpl
from audioclass.data import Segment


@component
class ExampleName:
    """One line for each segment, times in seconds."""

    name: ClassVar[str] = "example_name"
    suffix: ClassVar[str] = ".tsv"
    carries_probabilities: ClassVar[bool] = True

    def write(self, result, stream):
        for segment, row in zip(result.segments, result.P, strict=True):
            posterior = row[result.labels.index(segment.label)]
            stream.write(f"{segment.start:.3f}\t{segment.end:.3f}\t{posterior:.6f}\t{segment.label}\n")

    def read(self, stream):
        fields = [line.rstrip("\n").split("\t", 3) for line in stream]
        return [Segment(float(start), float(end), label) for start, end, _, label in fields]


@hookimpl
def register_exports():
    return [ExampleName]
