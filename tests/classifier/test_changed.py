"""A model that was changed since it was saved is refused: whatever was changed, and however it was zipped again."""

import json

import numpy as np
import pytest
from archives import DIGESTS, members_of, npy, zipped

from audioclass.classifier.saving import SCHEMA
from audioclass.engine.models import load_model
from audioclass.errors import ModelError


@pytest.fixture
def refused(model_file, tmp_path):
    """Save other members and say how they are refused."""

    def check(change, match=r"changed\.audioclass: ") -> str:
        path = tmp_path / "changed.audioclass"
        path.write_bytes(change(members_of(model_file)))
        with pytest.raises(ModelError, match=match) as caught:
            load_model(path)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return check


def test_coefficients_that_were_shuffled(refused):
    def shuffle(members):
        content = members["bank/0/coefficients.npy"]
        values = np.random.default_rng(0).permutation(np.frombuffer(content, "<f4", offset=128))
        return zipped(members | {"bank/0/coefficients.npy": content[:128] + values.tobytes()})

    refused(shuffle, "member 'bank/0/coefficients.npy' is not what was saved: its SHA-256 is another")


def test_labels_that_were_reversed(refused):
    def reverse(members):
        manifest = json.loads(members["manifest.json"])
        manifest["labels"].reverse()
        return zipped(members | {"manifest.json": json.dumps(manifest).encode()})

    refused(reverse, r"manifest\.json is not what was saved")


def test_any_byte_of_any_member(refused, model_file):
    rng = np.random.default_rng(1)
    for name, content in members_of(model_file).items():
        at = int(rng.integers(len(content)))
        changed = content[:at] + bytes([content[at] ^ 1 << int(rng.integers(8))]) + content[at + 1 :]
        refused(lambda members, name=name, changed=changed: zipped(members | {name: changed}))


def test_two_members_that_were_exchanged(refused):
    one, other = "preparation/values.npy", "preparation/scores.npy"
    refused(lambda members: zipped(members | {one: members[other], other: members[one]}), "is not what was saved")


def test_a_member_under_another_name(refused):
    def rename(members):
        content = members.pop("memory/weights.npy")
        return zipped(members | {"notes/weights.npy": content})

    refused(rename, "is not what was saved|is missing")


@pytest.mark.parametrize("name", ["notes/times.npy", "bank/9/rows.npy"])
def test_one_member_more(name, refused):
    refused(lambda members: zipped(members | {name: npy(np.zeros(3))}), "one is missing, or was added")


def test_one_member_less(refused):
    refused(lambda members: zipped({k: v for k, v in members.items() if k != "memory/y.npy"}), "one is missing")


def test_digests_that_were_taken_away(refused):
    refused(
        lambda members: zipped({name: content for name, content in members.items() if name != DIGESTS}),
        "member 'digests/sha256.npy' is missing: nothing tells whether the model is what was saved",
    )


def test_a_member_that_nobody_reads(refused, model_file):
    """What a later version adds is compared too."""
    from archives import sealed

    members = sealed(members_of(model_file) | {"notes/times.npy": npy(np.zeros(3))})
    refused(lambda _: zipped(members | {"notes/times.npy": npy(np.ones(3))}), "member 'notes/times.npy' is not what")


def test_new_files_state_their_digests(model_file):
    members = members_of(model_file)
    assert list(members)[-1] == DIGESTS
    assert json.loads(members["manifest.json"])["schema"] == SCHEMA >= 2


def test_the_order_of_members_and_how_they_are_packed_do_not_matter(trained, model_file, tmp_path):
    members = members_of(model_file)
    (tmp_path / "other.audioclass").write_bytes(zipped(dict(reversed(members.items()))))
    X = trained.dataset.X
    back = load_model(tmp_path / "other.audioclass")
    assert np.array_equal(back.posteriors_of(X), trained.model.posteriors_of(X))
