from mixed_clips import KINDS, N_POOLS, plan_overlaps, pool_of
from plan import Material

MATERIALS = [
    Material(f"{label}-{group}-{index}.flac", 8.0, label, f"source {group}")
    for label in ("speech", "music", "environment")
    for group in range(40)
    for index in range(3)
]


def files_of(clip):
    beside = [piece for name, values in clip.treatments if name == "background" for piece in values["pieces"]]
    return {file for file, _, _ in (*clip.pieces, *beside)}


def test_a_clip_holds_what_its_label_joins():
    label_of = {one.file: one.label for one in MATERIALS}
    for clip in plan_overlaps(MATERIALS, size=0.1):
        assert {label_of[file] for file in files_of(clip)} == set(clip.label.split("+"))


def test_what_is_mixed_comes_from_one_pool_of_sources():
    pools = {one.file: f"pool-{pool_of(one.group)}" for one in MATERIALS}
    for clip in plan_overlaps(MATERIALS, size=0.1):
        assert {pools[file] for file in files_of(clip)} == {clip.group}


def test_every_kind_and_every_pool_has_clips():
    clips = plan_overlaps(MATERIALS, size=0.1)
    assert {clip.label for clip in clips} == {"+".join(kind) for kind in KINDS}
    assert len({clip.group for clip in clips}) == N_POOLS
    assert clips == plan_overlaps(MATERIALS[::-1], size=0.1)
