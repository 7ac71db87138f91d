"""What to tell of recordings that are shorter than those that a model was trained on."""

from __future__ import annotations

from collections.abc import Sequence

from audioclass.classifier.model import Model
from audioclass.engine.batches import STANDARD_INPUT, Outcome


def short_recordings_note(outcomes: Sequence[Outcome], model: Model) -> str:
    """One line for one recording or for how many of several; empty where none is too short, or nobody knows."""
    usual = model.usual_duration
    if usual is None:
        return ""
    hop = 1 / model.recipe.framing.frame_rate  # a window is whole with a hop less, by how its frames are centred
    short = [outcome for outcome in outcomes if 0 < outcome.seconds < usual - hop]
    is_window = usual > model.recipe.windows.length * hop - hop
    window, shortest = f"the model's window of {model.recipe.window:g} s", f"the {usual:.2g} s of most training windows"
    bound = window if is_window else shortest
    if len(outcomes) == 1 and short:
        name = "standard input" if str(short[0].path) == STANDARD_INPUT else short[0].path
        return f"{name}: {short[0].seconds:.2f} s is shorter than {bound}: its probabilities are less sure"
    if len(short) == 1:
        return f"1 recording is shorter than {bound}: its probabilities are less sure"
    return f"{len(short)} recordings are shorter than {bound}: their probabilities are less sure" if short else ""
