from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from runs import config, recipe, run
from trained import RATE, write_corpus, write_recipe

from audioclass.data import Clip, Corpus
from audioclass.engine.evaluating import cross_validate
from audioclass.engine.rates import recipe_for
from audioclass.engine.training import train


def recordings(folder, *rates):
    """A corpus of short recordings of these sample rates."""
    clips = []
    for i, rate in enumerate(rates):
        soundfile.write(folder / f"{i}.wav", np.zeros(100), rate)
        clips.append(Clip(folder / f"{i}.wav", "silence"))
    return Corpus(tuple(clips), ())


@pytest.fixture(scope="module")
def adapting():
    return replace(recipe("broadcast").at_rate(32000), adapts_rate=True)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((32000,) * 3, 32000),
        ((96000, 44100, 48000), 32000),
        ((44100, 22050, 44100), 22050),
        ((24000,) * 19 + (8000,), 22050),
        ((24000,) * 18 + (8000,) * 2, 8000),
        ((11025,), 8000),
    ],
)
def test_the_highest_rate_that_nearly_all_recordings_reach_is_taken(tmp_path, adapting, rates, expected):
    chosen, remarks = recipe_for(recordings(tmp_path, *rates), adapting)
    assert chosen.framing.sample_rate == expected
    assert chosen == adapting.at_rate(expected)
    assert bool(remarks) == (expected < 32000)


def test_the_remark_tells_what_the_recordings_have(tmp_path, adapting):
    _, (remark,) = recipe_for(recordings(tmp_path, 44100, 16000, 16000, 16000), adapting)
    assert remark == "25% of the recordings have 32000 Hz: recipe broadcast is taken at 16000 Hz"


def test_a_recipe_that_does_not_adapt_is_left_as_it_is(tmp_path, adapting):
    fixed = replace(adapting, adapts_rate=False)
    assert recipe_for(recordings(tmp_path, 8000), fixed) == (fixed, ())


def test_what_cannot_be_read_does_not_count(tmp_path, adapting):
    corpus = recordings(tmp_path, 16000)
    (tmp_path / "text.wav").write_text("no audio", encoding="utf-8")
    clips = [Clip(Path(tmp_path / name), "silence") for name in ("text.wav", "missing.wav")]
    assert recipe_for(Corpus((*corpus.clips, *clips), ()), adapting)[0].framing.sample_rate == 16000
    assert recipe_for(Corpus(tuple(clips), ()), adapting) == (adapting, ())


def test_training_and_folds_take_the_rate_of_the_recordings(tmp_path):
    corpus = write_corpus(tmp_path)
    text = Path(write_recipe(tmp_path)).read_text(encoding="utf-8")
    table = tmp_path / "adapting.toml"
    table.write_text(text.replace(f"sample_rate = {RATE}", "sample_rate = 44100\nadapts_rate = true"), encoding="utf-8")
    setup = config(recipe=str(table), criterion="fixed")
    trained = train(corpus, config=setup, run=run())
    assert trained.model.recipe.framing.sample_rate == RATE
    assert "0% of the recordings have 44100 Hz: recipe adapting is taken at" in trained.warnings[0]
    judged = cross_validate(corpus, config=setup, run=run(), folds="2")
    assert judged.dataset.X.shape[1] == len(trained.model.recipe.columns)
