"""A small recipe of which a part learns, between two that do not, and one of the same without it."""

from runs import BUILTINS

from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipe_tables import recipe_of_table

PATCHES = {"name": "patches", "bands": 8, "height": 4, "width": 4, "components": 6, "atoms": 5, "regions": 2}
FLUX = {"group": "shape", "descriptors": [{"name": "flux"}, {"name": "flatness"}], "poolings": [{"name": "statistics"}]}
LEARNT = {"group": "patches", "descriptors": [{"name": "log_mel", "bands": 16}], "poolings": [PATCHES], "weight": 2.0}
MEL = {"group": "mel", "descriptors": [{"name": "log_mel", "bands": 16}], "poolings": [{"name": "statistics"}]}
TABLE = {
    "sample_rate": 8000,
    "frame_length": 512,
    "hop_length": 128,
    "window": 0.5,
    "window_hop": 0.25,
    "parts": [FLUX, LEARNT, MEL],
}


def recipe(**changes) -> Recipe:
    """The small recipe, before it has learnt."""
    return recipe_of_table("small", TABLE | changes, BUILTINS.make, BUILTINS.origin)
