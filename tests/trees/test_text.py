import json
import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import dendropy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trainings import make_config, make_run

from audioclass.errors import UsageError
from audioclass.kernels.gaussian import Gaussian
from audioclass.parameters import make
from audioclass.plugins.manager import plugin_manager
from audioclass.strategies.additive import Additive
from audioclass.strategies.dendrogram import HybridDendrogram
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.strategies.weighted import SOLVERS, Weighted
from audioclass.testing.blobs import blobs
from audioclass.training.examples import Examples
from audioclass.training.train import train_classifier
from audioclass.training.tree_editing import compare_trees, retrain, written_tree
from audioclass.trees.branches import Branch, random_tree
from audioclass.trees.drawing import draw_lines, draw_svg
from audioclass.trees.newick import read_newick, write_newick
from audioclass.trees.reading import read_toml
from audioclass.trees.text import WrittenTree

FORMS = {"additive": Additive(), "weighted": Weighted(SOLVERS["one_vs_one"])}
odd_names = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8).filter(
        str.strip
    ),
    min_size=2,
    max_size=9,
    unique=True,
)


def tree_from(nested, height=1.0):
    if isinstance(nested, int):
        return Branch.leaf(nested)
    return Branch.group([tree_from(part, height / 2) for part in nested], height)


def written(tree, labels, form="additive", **changes):
    facts = [
        {
            "positive": [labels[k] for k in dichotomy.positive],
            "negative": [labels[k] for k in dichotomy.negative],
            "kernel": {"name": "gaussian", "sigma": 0.5 + i},
            "C": 10.0,
            "examples": 7 * i,
            "support_vectors": 3,
            "log_loss": 0.1 * i,
            **changes,
        }
        for i, dichotomy in enumerate(FORMS[form].dichotomies(tree))
    ]
    return WrittenTree.of(tree, labels, form, facts)


FIVE = written(tree_from([[0, 1], [2, 3, 4]]), ("cat", "dog", "engine", "it's", "rain, heavy"))


# --- read back


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(labels=odd_names, seed=st.integers(0, 100))
def test_both_texts_give_the_tree_back_whatever_the_names(form, labels, seed):
    labels = sorted(labels)
    tree = random_tree(len(labels), np.random.default_rng(seed))
    before = written(tree, labels, form)
    assert read_toml(before.to_toml()) == before
    assert read_newick(write_newick(before)) == before


@pytest.mark.parametrize("form", FORMS)
def test_a_label_in_several_groups_survives(form):
    before = written(tree_from([[0, 1], [1, 2]]), ("a", "b", "c"), form)
    assert read_toml(before.to_toml()) == before
    assert read_newick(write_newick(before)) == before


def test_dendropy_reads_the_same_tree():
    tree = dendropy.Tree.get(data=write_newick(FIVE), schema="newick", preserve_underscores=True)
    assert sorted(leaf.taxon.label for leaf in tree.leaf_node_iter()) == list(FIVE.labels)
    groups = {
        tuple(sorted(leaf.taxon.label for leaf in node.leaf_iter())) for node in tree.preorder_internal_node_iter()
    }
    assert groups == {FIVE.labels, FIVE.labels[:2], FIVE.labels[2:]}
    distances = tree.calc_node_root_distances()
    assert distances == pytest.approx([1.0] * 5)
    cat = tree.find_node_with_taxon_label("cat")
    assert cat.annotations.get_value("C") == "10.0"
    assert cat.annotations.get_value("positive") == "cat"


def test_what_dendropy_writes_is_read():
    text = dendropy.Tree.get(data="((a:1,b:1):2,(c:2,d:2):1);", schema="newick").as_string(schema="newick")
    read = read_newick(text)
    assert read.labels == ("a", "b", "c", "d")
    assert [node.labels for node in read.tree.children] == [(0, 1), (2, 3)]
    assert [node.height for node in read.tree.walk() if node.children] == [3.0, 1.0, 2.0]
    assert read.machines == {}


def test_groups_have_the_names_of_a_taxonomy():
    tree = tree_from([[0, 1], [2, 3, 4]])
    named = WrittenTree.of(tree, FIVE.labels, "additive", [], {("cat", "dog"): "animal"})
    assert named.names == ("group 1", "animal", "cat", "dog", "group 2", "engine", "it's", "rain, heavy")
    assert read_toml(named.to_toml()).names == named.names


def test_a_machine_stands_at_its_node():
    owners = {name: [sorted(d.positive) for d, _ in machines] for name, _, machines in FIVE.nodes}
    assert owners["cat"] == [[0]]
    assert owners["group 2"] == [[0, 1]]  # which tells the other group from it as well
    both = {name: len(machines) for name, _, machines in written(FIVE.tree, FIVE.labels, "weighted").nodes}
    assert both == {"group 1": 1, "group 2": 1, "group 3": 3} | dict.fromkeys(FIVE.labels, 0)


# --- what is wrong


def edited(old, new):
    text = FIVE.to_toml()
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a = [", "not a TOML text"),
        ("schema = 9", "schema 9 must be 1"),
        ("schema = 1\nlabels = ['a']", "no \\[\\[node\\]\\] table"),
        ("schema = 1\nnode = 3", "node must be tables"),
        (edited('form = "additive"', 'form = "aditive"'), "unknown form of a tree 'aditive'; did you mean 'additive'"),
        (edited('members = ["cat", "dog"]', 'members = ["cat", "dgo"]'), "unknown label or group 'dgo'; did you mean"),
        (edited('members = ["cat", "dog"]', 'members = ["cat"]'), "'dog' is in no group|'group 2' is in no group"),
        (edited('members = ["cat", "dog"]', 'members = ["cat", "group 1"]'), "'group 1' stands in itself"),
        (edited('members = ["cat", "dog"]', 'members = ["cat", "cat"]'), "a name stands twice in members"),
        (edited('members = ["cat", "dog"]', "members = []"), "members is \\[\\], must be a list of names"),
        (edited('name = "group 2"', 'name = "group 3"'), "two nodes have the same name"),
        (edited('name = "group 2"', "name = 2"), "name 2 of a node must be a text"),
        (edited("height = 0.5", "height = -1"), "height -1 of 'group 2' must be a number of at least 0"),
        (edited("C = 10.0", "C = 0"), "C=0 of a machine must be positive and finite"),
        (edited('positive = ["cat"]', 'positive = ["kat"]'), "unknown label 'kat'; did you mean 'cat'"),
        (edited('positive = ["cat"]', 'positive = ["cat", "dog"]'), "'dog' is on both sides of a machine"),
        (edited('name = "gaussian", ', ""), "kernel .* of a machine must be a table with a name"),
    ],
)  # fmt: skip
def test_wrong_texts_are_one_line(text, match):
    with pytest.raises(UsageError, match=match) as error:
        read_toml(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "a leaf without a name"),
        ("a;", "a single leaf is no tree"),
        ("(a,b", "open bracket that is not closed"),
        ("(a,b));", "'\\)' where Newick's tree ends"),
        ("(a,);", "a leaf without a name"),
        ("(a:x,b);", "length 'x' of a branch must be a number"),
        ("(a,b)'c", "cannot be read as Newick's notation"),
        ("(a[&positive=a,negative=b,kernel=k,C={],b);", "C=None of a machine must be positive|no JSON"),
        ("(" * 100 + "a" + ")" * 100, "deeper than 64 groups"),
        ("(a:nan,b[&height=nan])c[&height=nan];", "height nan of 'c' must be a number of at least 0"),
    ],
)
def test_wrong_newick_is_one_line(text, match):
    with pytest.raises(UsageError, match=match) as error:
        read_newick(text)
    assert "\n" not in str(error.value)


@settings(max_examples=100)
@given(st.text(max_size=60) | st.text("()[]&=,:;'ab1{}|%", max_size=60))
def test_any_text_is_a_tree_or_one_line(text):
    assert "\n" not in complaint(read_toml, text) + complaint(read_newick, text)


def complaint(read, text):
    """What is said of a text; nothing where it is a tree."""
    try:
        read(text)
    except UsageError as error:
        return str(error)
    return ""


# --- edited and trained again


MANAGER = plugin_manager(installed=False)


def make_kernel(table):
    return MANAGER.make("kernel", table["name"], {key: table[key] for key in table if key != "name"})


@pytest.fixture(scope="module")
def trained():
    X, y = blobs(5, n_each=8, spread=0.8)
    examples = Examples.of(X, y)
    config = make_config(strategy=HybridDendrogram(merge="none"), trainer=MANAGER.make("trainer", "least_squares"))
    training = train_classifier(examples, FIVE.labels, config, make_run())
    return examples, config, training, written_tree(training, y)


def test_the_tree_of_a_training_says_what_was_found(trained):
    examples, _, training, before = trained
    assert set(before.machines) == {result.dichotomy for result in training.trained}
    for facts in before.machines.values():
        assert facts["kernel"] == {"name": "gaussian", "sigma": 1.0}
        assert facts["examples"] == len(examples.y)
        assert 0 < facts["log_loss"] < math.log(2)
    assert json.loads(json.dumps([dict(facts) for facts in before.machines.values()]))


def test_an_untouched_text_touches_nothing(trained):
    examples, config, training, before = trained
    after = read_toml(before.to_toml())
    assert compare_trees(training, after).touched == ()
    again = retrain(training, after, examples, config, make_run(), make_kernel=make_kernel)
    X = examples.statistics.X
    np.testing.assert_array_equal(again.classifier.posteriors(X), training.classifier.posteriors(X))


def test_only_a_changed_machine_is_trained(trained):
    examples, config, training, before = trained
    chosen = next(iter(before.machines))
    machines = {**before.machines, chosen: {**before.machines[chosen], "C": 3.0}}
    after = replace(before, machines=machines)
    assert compare_trees(training, after).touched == (chosen,)
    again = retrain(training, after, examples, config, make_run(), make_kernel=make_kernel)
    assert {result.dichotomy: result.C for result in again.trained}[chosen] == 3.0
    old = {result.dichotomy: result for result in training.trained}
    assert all(result is old[result.dichotomy] for result in again.trained if result.dichotomy != chosen)


def test_a_changed_kernel_is_trained(trained):
    examples, config, training, before = trained
    after = read_toml(before.to_toml().replace("sigma = 1.0", "sigma = 2.0", 1))
    [touched] = compare_trees(training, after).touched
    again = retrain(training, after, examples, config, make_run(), make_kernel=make_kernel)
    assert {result.dichotomy: result.kernel for result in again.trained}[touched] == Gaussian(sigma=2.0)


def test_a_moved_label_touches_the_groups_it_leaves_and_joins(trained):
    examples, config, training, before = trained
    flat = replace(before, tree=tree_from([0, 1, 2, 3, 4]), names=("all", *before.labels))
    assert compare_trees(training, flat).touched == ()
    moved = replace(
        before,
        tree=tree_from([[0, 2], [1, 3, 4]]),
        names=("x", "y", "cat", "engine", "z", "dog", "it's", "rain, heavy"),
    )
    touched = compare_trees(training, moved).touched
    assert [dichotomy.positive for dichotomy in touched] == [(0, 2)]
    P = retrain(training, moved, examples, config, make_run(), make_kernel=make_kernel).classifier.posteriors(
        examples.statistics.X
    )
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


def test_other_labels_are_refused(trained):
    *_, training, before = trained
    with pytest.raises(UsageError, match="tree: labels a, b, c, d, e must be cat, dog"):
        compare_trees(training, replace(before, labels=tuple("abcde")))


def test_a_strategy_without_a_tree_is_refused(trained):
    examples, config, *_ = trained
    training = train_classifier(examples, FIVE.labels, replace(config, strategy=OneVsOne()), make_run())
    with pytest.raises(UsageError, match="strategy 'one_vs_one' has no tree"):
        written_tree(training, examples.y)


# --- drawn


def test_lines_by_hand():
    tree = tree_from([[0, 1], 2])
    lines = draw_lines(written(tree, ("a", "b", "c"), examples=9, log_loss=0.25, kernel={"name": "linear"}))
    said = "log-loss 0.250, 9 examples, 3 support vectors, linear C=10"
    assert lines == [
        "group 1",
        "├── group 2",
        f"│   ├── a  ({said})",
        f"│   └── b  ({said})",
        f"└── c  ({said})",
    ]


def test_a_node_of_several_machines_says_their_span():
    lines = draw_lines(written(tree_from([0, 1, 2]), ("a", "b", "c"), "weighted"))
    assert lines[0] == "group 1  (3 machines, log-loss 0.000 to 0.200, 0 to 14 examples, 3 support vectors, 3 kernels)"


def test_the_picture_is_well_formed_and_has_every_name():
    root = ET.fromstring(draw_svg(FIVE))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(FIVE.names)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == len(FIVE.names) - 1


@settings(max_examples=20)
@given(labels=odd_names, seed=st.integers(0, 20))
def test_any_names_can_be_drawn(labels, seed):
    tree = random_tree(len(labels), np.random.default_rng(seed))
    some = written(tree, sorted(labels))
    ET.fromstring(draw_svg(some))
    assert len(draw_lines(some)) == len(some.names)


def test_a_kernel_table_makes_its_kernel():
    assert make_kernel({"name": "gaussian", "sigma": 2.0}) == make(Gaussian, {"sigma": 2.0})
