"""The same training on other rows: its kernels, C and dichotomies stay, machines and all after them are fitted anew."""

from __future__ import annotations

from audioclass.run import Run
from audioclass.storage import Store
from audioclass.training.assemble import Training, assemble, assemble_direct
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, train_dichotomies
from audioclass.training.direct import TrainedDirect, train_direct
from audioclass.training.examples import Examples


def train_again(
    examples: Examples, config: TrainingConfig, training: Training, run: Run, *, store: Store | None = None
) -> Training:
    """A training on these examples, of the same windows, with what another chose."""
    labels, plan = training.classifier.classes, training.classifier.plan
    if plan is None:
        [choice] = training.selected
        return assemble_direct(
            examples, labels, config, direct_again(examples, config, training, run, store=store), choice
        )
    again = dichotomies_again(examples, config, training, run, store=store)
    return assemble(examples, labels, config, plan, again, training.selected, run=run, store=store)


def direct_again(
    examples: Examples, config: TrainingConfig, training: Training, run: Run, *, store: Store | None = None
) -> TrainedDirect:
    """The machine of a direct strategy on these examples."""
    [choice] = training.selected
    n_labels = len(training.classifier.labels)
    return train_direct(examples, n_labels, choice.kernel, choice.C, config, run, store=store)


def dichotomies_again(
    examples: Examples, config: TrainingConfig, training: Training, run: Run, *, store: Store | None = None
) -> list[TrainedDichotomy]:
    """Every dichotomy of a plan on these examples."""
    trained = training.trained
    return train_dichotomies(
        [result.dichotomy for result in trained],
        examples,
        [result.kernel for result in trained],
        [result.C for result in trained],
        config,
        run,
        importance=[result.importance for result in trained],
        everywhere=True,
        store=store,
    )
