import tomllib

import pytest
from leaves import ESC, GROUP_OF, TAXONOMY, leaf_of, taxonomy_toml
from noises import KINDS


def test_every_label_of_esc50_has_one_leaf_of_environment():
    labels = [label for labels in ESC.values() for label in labels.split()]
    assert len(set(labels)) == len(labels) == 50
    assert set(ESC) <= set(TAXONOMY["environment"])


def test_every_noise_that_is_made_has_a_leaf():
    from leaves import LEAF_OF

    assert {LEAF_OF[kind] for kind in KINDS} <= set(TAXONOMY["environment"])


def test_the_taxonomy_is_written_as_it_is():
    nested = tomllib.loads(taxonomy_toml())
    assert {group: tuple(leaves) for group, leaves in nested.items()} == TAXONOMY


def test_leaves_and_groups_know_their_group():
    assert GROUP_OF["alarm and bell"] == "environment"
    assert GROUP_OF["music"] == "music"


@pytest.mark.parametrize(
    ("path", "seconds", "leaf"),
    [
        ("sounds/game/sfx/police_siren.ogg", 4.0, "alarm and bell"),
        ("sounds/game/fauna/sheep1.ogg", 1.0, "animal"),
        ("sounds/game/vehicle/idle.wav", 1.0, "machine"),
        ("sounds/game/thump.wav", 0.4, "impact"),
        ("sounds/game/humm.wav", 9.0, "machine"),
        ("sounds/game/hornet.wav", 0.4, "impact"),
    ],
)
def test_sounds_of_games_are_told_by_their_names(path, seconds, leaf):
    assert leaf_of("environment", path, seconds) == leaf


def test_music_is_instrumental_and_speech_is_itself():
    assert (leaf_of("music", "bell.ogg", 1.0), leaf_of("speech", "dog.ogg", 1.0)) == ("instrumental", "speech")
