"""What a training gives: a model, what was measured on the way, and what a user should know of it."""

from __future__ import annotations

from dataclasses import dataclass

from audioclass.classifier.about import NOT_HELD_OUT, splits_of
from audioclass.classifier.model import Model
from audioclass.engine.datasets import Dataset
from audioclass.engine.near_duplicates import near_duplicate_warning
from audioclass.engine.recipe_choice import RecipeChoice
from audioclass.evaluation.evaluation import Evaluation
from audioclass.evaluation.multi_label import MultiLabelEvaluation
from audioclass.label_sets import members_of
from audioclass.training.assemble import Training
from audioclass.training.near_duplicates import NearDuplicates

LEAK = 0.02  # of accuracy: where a random split claims so much more than grouped folds, recordings leak


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with what was measured while training it.

    `grouped` evaluates posteriors of groups that were held out; `random_split` those of single windows, with others of
    the same group in training: it is None where every window is a group by itself. `near_duplicates` are recordings in
    different groups that are too much alike for that, None where they are not many.
    """

    model: Model
    training: Training
    dataset: Dataset
    grouped: Evaluation | MultiLabelEvaluation
    random_split: Evaluation | None
    near_duplicates: NearDuplicates | None = None
    recipe_choice: RecipeChoice | None = None

    @property
    def choices(self) -> list[str]:
        """What was chosen for the user, by which figures: the recipe and its versions."""
        recipe = [] if self.recipe_choice is None else [str(self.recipe_choice)]
        return [*recipe, *self._label_sets(), *self.training.choices]

    def _label_sets(self) -> list[str]:
        """That labels overlap, and how often."""
        if self.dataset.sets is None:
            return []
        n_several = sum(len(members_of(name)) > 1 for name in self.dataset.sets)
        share, n_labels = 100 * n_several / len(self.dataset.sets), len(self.dataset.single_labels)
        return [f"multi-label: {n_labels} labels, {share:.0f} % of the windows have several"]

    @property
    def warnings(self) -> list[str]:
        """What a user should know before trusting it."""
        warnings = [*self.dataset.remarks, *self.training.notes]
        if splits_of(self.model.about) is NOT_HELD_OUT:
            warnings.append(
                "all recordings are one group, so that nothing could be held out: the figures are of the recordings"
                " that were trained on, and so is the calibration"
            )
        if isinstance(self.grouped, MultiLabelEvaluation):
            return warnings
        if self.near_duplicates is not None:
            warnings.append(near_duplicate_warning(self.near_duplicates, self.dataset, self.grouped))
        if self.random_split is not None:
            grouped, leaking = (one.main.measures["accuracy"].value for one in (self.grouped, self.random_split))
            if leaking - grouped > LEAK:
                warnings.append(
                    f"a random split claims an accuracy of {leaking:.3f}, grouped folds {grouped:.3f}: recordings of"
                    " one group are alike, and only the grouped figure says how new ones will fare"
                )
        return warnings
