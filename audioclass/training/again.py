"""The same training on other rows: its kernels, C and dichotomies stay, machines and all after them are fitted anew."""

from __future__ import annotations

from audioclass.run import Run
from audioclass.storage import Store
from audioclass.training.assemble import Training, assemble, assemble_direct
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import train_dichotomies
from audioclass.training.direct import train_direct
from audioclass.training.examples import Examples


def train_again(
    examples: Examples, config: TrainingConfig, training: Training, run: Run, *, store: Store | None = None
) -> Training:
    """A training on these examples, of the same windows, with what another chose."""
    labels, plan, trained = training.classifier.labels, training.classifier.plan, training.trained
    if plan is None:
        [choice] = training.selected
        direct = train_direct(examples, len(labels), choice.kernel, choice.C, config, run, store=store)
        return assemble_direct(examples, labels, config, direct, choice)
    again = train_dichotomies(
        plan.dichotomies,
        examples,
        [result.kernel for result in trained],
        [result.C for result in trained],
        config,
        run,
        importance=[result.importance for result in trained],
        everywhere=True,
        store=store,
    )
    return assemble(examples, labels, config, plan, again, training.selected, run=run, store=store)
