"""The last steps of the combination of every strategy: a link or a tempering, then a second stage; each may be absent.

A kind of last step says which of them are fitted, so that the same kind can be fitted again on other rows: without a
fold, or on recordings of another place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from audioclass.contracts import Fitted, LabelLink
from audioclass.numerics import softmax
from audioclass.problems import LabelEvidence
from audioclass.strategies.posterior_calibration import (
    PosteriorCalibration,
    fit_posterior_calibration,
    fit_temperature_alone,
)
from audioclass.strategies.second_stage import SecondStage, fit_second_stage

Tempering = Literal["temperature", "all"]
TEMPERINGS = {"temperature": fit_temperature_alone, "all": fit_posterior_calibration}


@dataclass(frozen=True, eq=False)
class FittedLink:
    """A link with what it learnt from held-out evidence."""

    link: LabelLink
    fitted: Fitted

    def posteriors(self, evidence: LabelEvidence) -> np.ndarray:
        """The softmax of its logits."""
        return softmax(self.link.logits(evidence, self.fitted)) if len(evidence.P) else evidence.P


@dataclass(frozen=True, eq=False)
class LastStep:
    """Posteriors from what a strategy says; as the strategy has them where there is no part at all."""

    tempering: PosteriorCalibration | None = None
    link: FittedLink | None = None
    stage: SecondStage | None = None

    def posteriors(self, evidence: LabelEvidence) -> np.ndarray:
        """(n, n_labels), at least 0 and of sum 1."""
        P = evidence.P
        if self.link is not None:
            P = self.link.posteriors(evidence)
        elif self.tempering is not None:
            P = self.tempering.apply(P)
        return P if self.stage is None else self.stage.apply(P, evidence.columns)

    @property
    def kind(self) -> StepKind:
        """What fits another of the same kind."""
        tempering: Tempering | None = None
        if self.tempering is not None:
            tempering = "temperature" if self.tempering.fit is fit_temperature_alone else "all"
        link = None if self.link is None else self.link.link
        if self.stage is None:
            return StepKind(tempering, link)
        return StepKind(tempering, link, float(self.stage.penalty[0]), reads_columns=self.stage.n_columns > 0)


@dataclass(frozen=True)
class StepKind:
    """Which last step is fitted: a tempering or a link, then a second stage of some penalty where it is not None.

    A `fixed_stage` comes last as it is, and only what is before it is fitted.
    """

    tempering: Tempering | None = None
    link: LabelLink | None = None
    penalty: float | None = None
    reads_columns: bool = False
    fixed_stage: SecondStage | None = None

    @property
    def has_stage(self) -> bool:
        """Whether a second stage comes last."""
        return self.penalty is not None or self.fixed_stage is not None

    @property
    def without_stage(self) -> StepKind:
        """What comes before it."""
        return StepKind(self.tempering, self.link)

    def fit(self, evidence: LabelEvidence, y: np.ndarray, weights: np.ndarray) -> LastStep:
        """From held-out evidence, and the label index and weight of each row."""
        step = LastStep()
        if self.link is not None:
            step = LastStep(link=FittedLink(self.link, self.link.fit(evidence, y, weights)))
        elif self.tempering is not None:
            step = LastStep(TEMPERINGS[self.tempering](evidence.P, y, weights))
        return self.with_stage(step, evidence, y, weights)

    def with_stage(self, step: LastStep, evidence: LabelEvidence, y: np.ndarray, weights: np.ndarray) -> LastStep:
        """A step without a second stage, followed by one that is fitted on its posteriors of the same rows."""
        if self.penalty is None:
            return replace(step, stage=self.fixed_stage)
        columns = evidence.columns if self.reads_columns else None
        stage = fit_second_stage(step.posteriors(evidence), y, self.penalty, weights, columns)
        return replace(step, stage=stage)

    def __str__(self) -> str:
        name = {"temperature": "temperature of posteriors", "all": "tempered posteriors", None: "strategy"}
        first = name[self.tempering] if self.link is None else f"link {self.link.name}"
        if self.penalty is None:
            return first
        columns = " and groups" if self.reads_columns else ""
        return f"{first}, second stage of labels{columns} at {self.penalty:.3g}"


# The first that lowers the log-loss is taken: a temperature alone is what few examples may have enough for.
TEMPERINGS_IN_ORDER = (StepKind("all"), StepKind("temperature"))
