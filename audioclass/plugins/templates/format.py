"""Start, end, probability and label of each segment, separated by tabs."""

from typing import IO, Any, ClassVar

from audioclass import component, hookimpl
from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.formats.rows import rows_of
from audioclass.formats.texts import one_line, restored


@component
class ExampleName:
    """One line for each segment, times in seconds."""

    name: ClassVar[str] = "example_name"
    suffix: ClassVar[str] = ".labels.tsv"
    carries_probabilities: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[Any]) -> None:
        for row in rows_of(result):
            # A label may be a group, whose probability is the sum over its labels, or `unknown`, which has none.
            probability = "" if row.probability is None else f"{row.probability:.6f}"
            label = one_line(row.label)  # tabs and line ends as \t and \n, a backslash as \\
            stream.write(f"{row.start:.6f}\t{row.end:.6f}\t{probability}\t{label}\n")

    # Without `read` the format is for `classify -o` alone; with it, `train` takes its files as labels too.
    def read(self, stream: IO[Any]) -> Annotations:
        fields = [line.rstrip("\r\n").split("\t", 3) for line in stream]
        return Annotations(
            {"": [Segment(float(start), float(end), restored(label)) for start, end, _, label in fields]}
        )


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    return [ExampleName]
