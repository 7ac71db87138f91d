import copy
from collections import Counter

import pytest
from runs import recipe as load_recipe

from audioclass.errors import UsageError
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.extraction.recipes import shipped_recipes

TABLE = {
    "sample_rate": 16000,
    "frame_length": 512,
    "hop_length": 160,
    "window": 1.0,
    "window_hop": 0.5,
    "parts": [
        {"group": "level", "descriptors": [{"name": "level"}], "poolings": [{"name": "statistics"}]},
        {"group": "mel", "descriptors": [{"name": "log_mel", "bands": 8}], "poolings": [{"name": "loud_and_quiet"}]},
    ],
}


def made(manager, table=TABLE):
    return recipe_of_table("mine", table, manager.make, lambda kind, name: "audioclass 1.0")


def changed(**changes):
    return copy.deepcopy(TABLE) | changes


def part(**changes):
    return changed(parts=[TABLE["parts"][0] | changes])


def test_features_know_their_names_and_groups(manager):
    recipe = made(manager)
    assert recipe.columns[:2] == ("level.level_mean", "level.level_deviation")
    assert recipe.groups == ("level",) * 2 + ("mel",) * 16
    assert (recipe.windows.length, recipe.windows.hop) == (100, 50)


def test_derivatives_come_after_the_values(manager):
    recipe = made(manager, part(derivatives=2))
    assert [name.split("_")[1] for name in recipe.columns] == ["mean", "d1", "d2", "deviation", "d1", "d2"]


def test_what_is_written_gives_the_same_recipe(manager):
    recipe = made(manager)
    again = made(manager, recipe.plain())
    assert again == recipe
    assert again.fingerprint == recipe.fingerprint


def test_fingerprint_does_not_depend_on_what_is_left_at_its_default(manager):
    spelt_out = part(poolings=[{"name": "statistics", "values": ["mean", "deviation"]}], derivatives=0)
    assert made(manager, part()).fingerprint == made(manager, spelt_out).fingerprint
    assert made(manager, part() | {"summary": "other words"}).fingerprint == made(manager, part()).fingerprint


@pytest.mark.parametrize("change", [{"hop_length": 161}, {"window": 2.0}, {"trim": True}], ids=str)
def test_fingerprint_changes_with_what_is_computed(manager, change):
    assert made(manager, changed(**change)).fingerprint != made(manager).fingerprint


def test_fingerprint_changes_with_the_version_of_a_component(manager):
    newer = recipe_of_table("mine", TABLE, manager.make, lambda kind, name: "audioclass 2.0")
    assert newer.fingerprint != made(manager).fingerprint


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed(sample_rte=3), "recipe mine: unknown key 'sample_rte'; did you mean 'sample_rate'"),
        (changed(sample_rate=0), "recipe mine: sample_rate=0 must be a positive number"),
        (changed(window="long"), "window='long' must be a positive number"),
        (changed(window_hop=None), "window_hop=None must be"),
        (changed(hop_length=600), "hop_length must be at most frame_length"),
        (changed(parts=[]), "parts must be a list of at least one"),
        (changed(parts=[{"descriptors": []}]), "every part must name its group"),
        (part(poolngs=[]), "group level: unknown key 'poolngs'; did you mean 'poolings'"),
        (part(descriptors=[]), "descriptors must be a list of at least one"),
        (part(descriptors=["level"]), "'level' must be a descriptor with its name"),
        (part(descriptors=[{"name": "levl"}]), "unknown descriptor 'levl'; did you mean 'level'"),
        (part(descriptors=[{"name": "log_mel", "bands": 0}]), "bands=0 must be at least 1"),
        (part(derivatives=3), "derivatives=3 must be 0, 1 or 2"),
        (changed(parts=TABLE["parts"][:1] * 2), "feature 'level.level_deviation' is computed twice"),
        (part(descriptors=[{"name": "log_mel", "lowest": 9000}]), "lowest=9000"),
    ],
)
def test_wrong_recipes_are_refused(manager, table, message):
    with pytest.raises(UsageError, match=message):
        made(manager, table)


@pytest.mark.parametrize("name", shipped_recipes())
def test_shipped_recipes_can_be_made(name):
    recipe = load_recipe(name)
    assert recipe.summary
    assert len(set(recipe.columns)) == len(recipe.columns) == len(recipe.groups)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("brodcast", "unknown recipe 'brodcast'; did you mean 'broadcast'"),
        ("no.toml", "no.toml: cannot be read: No such"),
    ],
)
def test_unknown_recipes_get_a_suggestion(name, message):
    with pytest.raises(UsageError, match=message):
        load_recipe(name)


def test_a_file_that_is_no_recipe_is_one_line(tmp_path):
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="bad.toml: not a TOML file"):
        load_recipe(str(tmp_path / "bad.toml"))


@pytest.mark.parametrize(
    ("rate", "framing"),
    [(44100, (44100, 2048, 441)), (32000, (32000, 1500, 320)), (22050, (22050, 1024, 220)), (8000, (8000, 384, 80))],
)
def test_frames_and_hops_last_as_long_at_another_rate(manager, rate, framing):
    recipe = made(manager, changed(sample_rate=44100, frame_length=2048, hop_length=441, adapts_rate=True))
    other = recipe.at_rate(rate)
    assert (other.framing.sample_rate, other.framing.frame_length, other.framing.hop_length) == framing
    assert other.window == recipe.window
    assert made(manager, other.plain()) == other
    assert (other.fingerprint == recipe.fingerprint) == (rate == 44100)


@pytest.mark.parametrize("length", [20, 4096, -1, True, "long"])
def test_a_part_has_frames_within_those_of_the_recipe(manager, length):
    with pytest.raises(UsageError, match="frame_length="):
        made(manager, part(frame_length=length))


def test_a_part_with_frames_of_its_own_is_written_and_has_another_fingerprint(manager):
    recipe = made(manager, part(frame_length=200))
    assert recipe.plain()["parts"][0]["frame_length"] == 200
    assert made(manager, recipe.plain()) == recipe
    assert recipe.fingerprint != made(manager, part()).fingerprint


def test_whether_a_recipe_adapts_does_not_change_its_features(manager):
    adapting = made(manager, changed(adapts_rate=True))
    assert adapting.adapts_rate
    assert adapting.fingerprint == made(manager).fingerprint
    assert "adapts_rate" not in made(manager).plain()


def test_a_rate_at_which_a_descriptor_has_no_place_is_refused(manager):
    parts = [TABLE["parts"][1] | {"descriptors": [{"name": "log_mel", "bands": 8, "lowest": 5000.0}]}]
    with pytest.raises(UsageError, match="lowest=5000 Hz must be below half the sample rate, 4000 Hz"):
        made(manager, changed(parts=parts)).at_rate(8000)


def test_the_groups_of_short_sounds_at_44_1_khz_read_spectrograms_of_two_lengths_of_frames():
    recipe = load_recipe("environment").at_one_speed
    assert Counter(recipe.groups) == {
        "mel": 1280, "cepstra": 540, "covariance": 600, "lagged_covariance": 1176, "onsets": 576, "modulation": 352,
        "slow_modulation": 320, "ripples": 468, "loudness_ranks": 320, "sharpness": 256, "onset_patches": 451,
        "slices": 320, "rhythm": 148, "envelopes": 220, "shape": 510, "square_patches": 2304, "long_patches": 2304,
        "amplitudes": 20, "flat_tops": 6,
    }  # fmt: skip
    assert recipe.adapts_rate
    of_frames = [part for part in recipe.parts if part.group not in ("shape", "amplitudes", "flat_tops")]
    assert len({part.descriptors for part in of_frames}) == 1
    assert {part.frame_length for part in recipe.parts} == {None, 1024}


@pytest.mark.parametrize("rate", [32000, 22050, 16000, 8000])
def test_it_is_one_at_every_rate(rate):
    assert load_recipe("environment").at_rate(rate).framing.frame_rate == pytest.approx(100, rel=0.01)
