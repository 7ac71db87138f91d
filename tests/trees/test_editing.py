import pytest

from audioclass.errors import UsageError
from audioclass.problems import Dichotomy
from audioclass.trees.branches import Branch
from audioclass.trees.editing import add, make_group, merge_group, move, rename_group, set_machines
from audioclass.trees.reading import read_toml
from audioclass.trees.text import WrittenTree

LABELS = ("barn", "crow", "engine", "tawny", "wren")
NAMES = {("barn", "tawny"): "owls", ("barn", "crow", "tawny", "wren"): "birds"}


def group(*children, height=1.0):
    return Branch.group([Branch.leaf(child) if isinstance(child, int) else child for child in children], height)


def facts(positive, negative, C=10.0):
    return {"positive": positive, "negative": negative, "kernel": {"name": "linear"}, "C": C}


MACHINES = [facts(["engine"], ["barn", "crow", "tawny", "wren"]), facts(["barn", "tawny"], ["crow", "engine", "wren"])]
BIRDS = WrittenTree.of(group(group(group(0, 3), 1, 4), 2, height=2.0), LABELS, "additive", MACHINES, NAMES)


def outline(written):
    """The members of every group."""
    return {table["name"]: table["members"] for table in written.node_tables() if "members" in table}


def test_the_tree_before():
    assert outline(BIRDS) == {
        "group 1": ["birds", "engine"],
        "birds": ["owls", "crow", "wren"],
        "owls": ["barn", "tawny"],
    }


def test_a_label_is_moved():
    assert outline(move(BIRDS, "crow", "owls"))["owls"] == ["barn", "crow", "tawny"]
    assert outline(move(BIRDS, "engine", "owls")) == {
        "birds": ["owls", "crow", "wren"],
        "owls": ["barn", "engine", "tawny"],
    }  # the root that had one member left is that member


def test_a_group_is_moved_with_all_that_is_in_it():
    assert outline(move(BIRDS, "owls", "group 1")) == {
        "group 1": ["owls", "birds", "engine"],
        "birds": ["crow", "wren"],
        "owls": ["barn", "tawny"],
    }


def test_a_label_may_stand_in_one_group_more():
    both = add(BIRDS, "engine", "owls")
    assert outline(both)["owls"] == ["barn", "engine", "tawny"]
    assert "engine" in outline(both)["group 1"]
    assert both.taxonomy.repeated == ("engine",)


def test_a_group_is_made_where_its_members_are():
    assert outline(make_group(BIRDS, "songbirds", ["wren", "crow"])) == {
        "group 1": ["birds", "engine"],
        "birds": ["owls", "songbirds"],
        "owls": ["barn", "tawny"],
        "songbirds": ["crow", "wren"],
    }
    far = outline(make_group(BIRDS, "night", ["owls", "engine"]))
    assert far == {"group 1": ["night", "birds"], "birds": ["crow", "wren"], "night": ["owls", "engine"]} | {
        "owls": ["barn", "tawny"]
    }


def test_a_group_of_all_members_takes_the_place_of_theirs():
    assert outline(make_group(BIRDS, "Strigiformes", ["barn", "tawny"]))["birds"] == ["Strigiformes", "crow", "wren"]


def test_a_group_is_merged_into_the_one_above():
    assert outline(merge_group(BIRDS, "owls")) == {
        "group 1": ["birds", "engine"],
        "birds": ["barn", "crow", "tawny", "wren"],
    }


def test_a_group_is_renamed():
    renamed = rename_group(BIRDS, "owls", "Strigiformes")
    assert outline(renamed)["birds"] == ["Strigiformes", "crow", "wren"]
    assert (renamed.tree, renamed.machines) == (BIRDS.tree, BIRDS.machines)


def test_the_machines_of_a_node_are_changed():
    changed = set_machines(BIRDS, "owls", {"C": 3.0})
    assert changed.machines[Dichotomy((0, 3), (1, 2, 4))]["C"] == 3.0
    assert changed.machines[Dichotomy((2,), (0, 1, 3, 4))]["C"] == 10.0


@pytest.mark.parametrize(
    "edited",
    [move(BIRDS, "crow", "owls"), add(BIRDS, "engine", "owls"), merge_group(BIRDS, "birds"),
     make_group(BIRDS, "x", ["wren", "crow"]), set_machines(BIRDS, "engine", {"C": 2.0})],
)  # fmt: skip
def test_an_edited_tree_is_written_and_read_back(edited):
    assert read_toml(edited.to_toml()) == edited


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        (lambda: move(BIRDS, "crw", "owls"), "unknown label or group 'crw'; did you mean 'crow'"),
        (lambda: move(BIRDS, "crow", "owl"), "unknown group 'owl'; did you mean 'owls'"),
        (lambda: move(BIRDS, "crow", "wren"), "'wren' is a label, a group is needed"),
        (lambda: move(BIRDS, "birds", "owls"), "'birds' cannot be moved into 'owls', which is in it"),
        (lambda: move(BIRDS, "group 1", "owls"), "'group 1' is the whole tree and cannot be moved"),
        (lambda: add(BIRDS, "owls", "birds"), "unknown label 'owls'"),
        (lambda: add(BIRDS, "crow", "birds"), "'crow' is in 'birds' already"),
        (lambda: make_group(BIRDS, "owls", ["crow", "wren"]), "'owls' is the name of another node"),
        (lambda: make_group(BIRDS, "x", ["crow", "crow"]), "group 'x' needs 2 members, not 1"),
        (lambda: make_group(BIRDS, "x", ["crow", "group 1"]), "'group 1' is the whole tree and cannot be a member"),
        (lambda: make_group(BIRDS, " ", ["crow", "wren"]), "' ' cannot be a name"),
        (lambda: merge_group(BIRDS, "group 1"), "'group 1' is the whole tree and has no group above it"),
        (lambda: merge_group(BIRDS, "crow"), "'crow' is a label, a group is needed"),
        (lambda: rename_group(BIRDS, "crow", "raven"), "'crow' is a label, a group is needed"),
        (lambda: rename_group(BIRDS, "owls", "crow"), "'crow' is the name of another node"),
        (lambda: set_machines(BIRDS, "wren", {"C": 1.0}), "no machine stands at 'wren'"),
    ],
)  # fmt: skip
def test_what_cannot_be_edited_is_one_line(edit, match):
    with pytest.raises(UsageError, match=match):
        edit()
