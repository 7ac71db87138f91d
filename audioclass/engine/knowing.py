"""What a model is taught of itself at the end of a training: what is strange to it, and its risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.classifier.about import NOT_HELD_OUT, splits_of
from audioclass.classifier.model import Model
from audioclass.classifier.risk_nodes import marks_of_groups
from audioclass.engine.imagining import imagined_rows
from audioclass.run import Run
from audioclass.training.assemble import Training
from audioclass.training.examples import Examples
from audioclass.training.imagined import UNITS
from audioclass.training.novelty import FEWEST_GROUPS, fit_novelty
from audioclass.training.risk import HeldOutPosteriors, fit_confusion_risk, fit_node_risk, fit_risk


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """Prepared rows of training windows with their labels, groups, clips and held-out posteriors; first versions alone.

    They tell a model what is strange to it and how far its posteriors can be trusted. Of what is a near-duplicate of a
    recording in another group, which was not held out with it, posteriors are surer than those of new recordings will
    be: its risk is not asked, unless too few groups are left.
    """

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    clips: Sequence[str]
    held_out: np.ndarray
    is_near_duplicate: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        examples: Examples,
        training: Training,
        clips: Sequence[str],
        is_near_duplicate: np.ndarray | None = None,
    ) -> KnownGroups:
        """Those of a training; `clips` names what each window is of."""
        X = examples.statistics.X[examples.firsts]
        return cls(X, examples.y, examples.groups, clips, training.held_out, is_near_duplicate)

    @property
    def new_to_others(self) -> HeldOutPosteriors:
        """The held-out posteriors of windows that are no near-duplicates; of all where these are of too few groups."""
        known = HeldOutPosteriors(self.held_out, self.y, self.groups, self.clips)
        if self.is_near_duplicate is None:
            return known
        rest = known.rows(np.flatnonzero(~self.is_near_duplicate))
        return rest if len(np.unique(rest.groups)) >= FEWEST_GROUPS else known

    def taught(self, model: Model, run: Run, *, learns_novelty: bool = True) -> Model:
        """The model with its novelty and risk, of which it has none where too few groups were held out.

        Nodes at a risk are the groups of its taxonomy; without any, those of labels that it takes for one another.
        """
        if splits_of(model.about) is NOT_HELD_OUT or len(np.unique(self.groups)) < FEWEST_GROUPS:
            return model
        novelty = None
        if learns_novelty:
            run.progress("novelty", 0, 1)
            rows = imagined_rows(model.recipe.at_one_speed, run)
            imagined = [model.preprocessing.apply(each) for each in rows]
            novelty = fit_novelty(self.X, self.y, self.groups, self.held_out, imagined, list(UNITS.values()))
            run.progress("novelty", 1, 1)
        held_out = self.new_to_others
        nodes = marks_of_groups(model.taxonomy, model.labels)
        node_risk = fit_node_risk(held_out, nodes) if len(nodes) else fit_confusion_risk(held_out)
        return replace(model, novelty=novelty, risk=fit_risk(held_out), node_risk=node_risk)
