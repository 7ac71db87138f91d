"""Which leaf of the taxonomy a sound counts as: labels of ESC-50 one by one, sounds of packages by their names."""

from __future__ import annotations

import re

ALARM = "alarm and bell"
TAXONOMY = {
    "speech": (),
    "music": ("singing", "instrumental"),
    "environment": ("animal", "human", "nature", "machine", ALARM, "impact"),
    "silence": (),
}
ESC = {
    "animal": "dog rooster pig cow frog cat hen insects sheep crow crickets chirping_birds",
    "human": "crying_baby sneezing clapping breathing coughing footsteps laughing brushing_teeth snoring"
    " drinking_sipping",
    "nature": "rain sea_waves crackling_fire water_drops wind pouring_water toilet_flush thunderstorm",
    "machine": "vacuum_cleaner washing_machine helicopter chainsaw engine train airplane hand_saw clock_tick",
    ALARM: "clock_alarm siren car_horn church_bells",
    "impact": "door_wood_knock mouse_click keyboard_typing can_opening glass_breaking fireworks door_wood_creaks",
}
MADE = {
    "nature": "wind rain waves",
    "machine": "hum engine ticking",
    "impact": "clicks",
    ALARM: "siren beeps horn",
    "animal": "crickets birds",
}
NAMES = {  # the first that a path holds
    ALARM: r"alarm|siren|bell|horn(?!et)|beep|klaxon|buzzer|warning|honk",
    "human": r"human|scream|laugh|cough|cry|civilian|soldier|pain|death|die|gasp|sneez|footstep|steps?\b|walk|crowd"
    r"|clap",
    "animal": r"animal|critter|fauna|bird|duck|chicken|bull\b|sheep|cow|dog|cat\b|wolf|bear|horse|elephant|sow\b|frog"
    r"|insect|bee\b|cricket|cycada|owl|crow(\b|[0-9])|gryphon|bat-|dragon|drake|alien|spider|goat|pig|cock|hawk|quack"
    r"|ptak|racek|krysa",
    "machine": r"engine|motor|vehicle|cars?\b|truck|train|plane|copter|rotor|mill|factory|power|machine|drill|saw|tank"
    r"|ugv|mover|elevator|lift|mech|rocket|jet|robot|kart|skid|crane|coal|trafi|press|sewing|airship|fan\b|bus\."
    r"|diesel|bulldozer|auto[0-9]|parnik|flyby",
    "nature": r"wind|rain|water|thunder|storm|fire|river|sea\b|wave|ocean|lava|ambien|tileset|forest|jungle|stream"
    r"|splash|drop|cavedrip|creek|vitr|voda|hrom|kap[0-9]|les\.",
}
LEAF_OF = {label: leaf for table in (ESC, MADE) for leaf, labels in table.items() for label in labels.split()}
STEADY = 2.5  # seconds from which a sound of no telling name is no blow
GROUP_OF = {leaf: group for group, leaves in TAXONOMY.items() for leaf in (*leaves, group)}


def leaf_of(label: str, path: str, seconds: float) -> str:
    """The leaf below a top label; environment of no telling name is an impact where it is short, else a machine."""
    if label == "environment":
        name = path.lower().replace("_", " ")
        named = (leaf for leaf, pattern in NAMES.items() if re.search(pattern, name))
        return next(named, "impact" if seconds < STEADY else "machine")
    return "instrumental" if label == "music" else label


def taxonomy_toml() -> str:
    """The tree as a corpus has it."""
    tables = (
        f"[{group}]\n" + "".join(f'[{group}."{leaf}"]\n' for leaf in leaves) for group, leaves in TAXONOMY.items()
    )
    return "".join(tables)
