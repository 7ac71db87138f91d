"""Distributions under `plugins/` as a stranger meets them: installed by pip, used by name, missed by name."""

import json

import pytest
from environments import REPOSITORY, make_environment
from trained import write_corpus, write_recipe

SMILE = """
summary = "What openSMILE says of a window."
sample_rate = 16000
frame_length = 512
hop_length = 256
window = 1.0
window_hop = 1.0

[[parts]]
group = "egemaps"
embedding = { name = "egemaps" }
"""
CHOSEN = {
    "audioclass-laplacian": ["--kernel", "laplacian", "--criterion", "fixed"],
    "audioclass-ordinal": ["--strategy", "ordinal", "--criterion", "fixed"],
    "audioclass-msvm": ["--strategy", "crammer_singer", "--criterion", "fixed"],
    "audioclass-ensembles": ["--strategy", "random_forest:n_trees=20"],
    "audioclass-opensmile": ["--recipe", "smile.toml", "--criterion", "fixed"],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A fresh environment with audioclass and a corpus, in which distributions are installed one by one."""
    folder = tmp_path_factory.mktemp("distributions")
    write_corpus(folder / "corpus", n_each=4)
    write_recipe(folder)
    (folder / "smile.toml").write_text(SMILE, encoding="utf-8")
    return make_environment(folder / "environment"), folder


def train(environment, folder, model, *options):
    recipe = [] if "--recipe" in options else ["--recipe", "small.toml"]
    ask = ["train", "corpus", *recipe, *options, "-o", model, "--cache", "cache", "--json"]
    return environment.run("audioclass", *ask, cwd=folder, check=True)


@pytest.mark.parametrize("distribution", CHOSEN)
def test_it_installs_trains_by_name_loads_elsewhere_and_is_missed_by_name(place, distribution):
    environment, folder = place
    environment.install(REPOSITORY / "plugins" / distribution)
    model = f"{distribution}.audioclass"
    report = json.loads(train(environment, folder, model, *CHOSEN[distribution]).stdout)
    assert report["labels"] == ["clicks", "noise", "tone"]

    heard = environment.run(
        "audioclass", "classify", "corpus/tone/tone-1.wav", "--model", model, cwd=folder, check=True
    )
    assert len(heard.stdout.splitlines()) >= 2

    for command, code in ((("model", "show", model), 0), (("model", "verify", model), 1)):
        alone = environment.run("audioclass", *command, cwd=folder, AUDIOCLASS_PLUGINS="")
        assert alone.returncode == code
        assert f"pip install {distribution}" in alone.stderr
        assert alone.stderr.count("\n") == 1


def test_a_criterion_of_a_stranger_chooses_kernels(place):
    environment, folder = place
    environment.install(REPOSITORY / "plugins" / "audioclass-hsic")
    chosen = train(environment, folder, "hsic.audioclass", "--criterion", "hsic")
    assert {one["kernel"]["name"] for one in json.loads(chosen.stdout)["machines"]} == {"gaussian_unscaled"}


def test_a_format_of_a_stranger_is_written_by_classify_and_read_by_train(place):
    environment, folder = place
    environment.install(REPOSITORY / "plugins" / "audioclass-hts")
    train(environment, folder, "first.audioclass", "--criterion", "fixed")
    flat = folder / "flat"
    flat.mkdir()
    for recording in sorted((folder / "corpus").rglob("*.wav")):
        copy = flat / recording.name
        copy.write_bytes(recording.read_bytes())
        ask = ["classify", str(copy), "--model", "first.audioclass", "-o", str(copy.with_suffix(".lab"))]
        environment.run("audioclass", *ask, cwd=folder, check=True)
    assert (flat / "tone-1.lab").read_text().startswith("0 ")
    assert "tone" in (flat / "tone-1.lab").read_text()

    ask = ["train", "flat", "--recipe", "small.toml", "--criterion", "fixed", "-o", "second.audioclass", "--json"]
    report = json.loads(environment.run("audioclass", *ask, cwd=folder, check=True).stdout)
    assert report["labels"] == ["clicks", "noise", "tone"]
