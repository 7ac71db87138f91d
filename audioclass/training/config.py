"""The configuration of a training: every choice in one frozen value.

Options of the command line with their help and defaults, tables of a configuration file and parameters of the estimator
are all made from the fields: a new choice is one field here and the code that reads it. Nothing heavy is imported, so
that `--help` stays quick.
"""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from audioclass.contracts import (
    Calibrator,
    Criterion,
    DirectStrategy,
    HasTree,
    Kernel,
    LabelLink,
    Search,
    Strategy,
    TellsLabelsIndependently,
    Trainer,
)
from audioclass.criteria.judging import check_judges
from audioclass.errors import UsageError, unknown_name
from audioclass.parameters import parameter
from audioclass.run import Run
from audioclass.training.options import AUTO_RECIPE, EVERY_LINK, options_of, slot

if TYPE_CHECKING:
    from audioclass.extraction.recipe import Recipe
    from audioclass.taxonomy import Taxonomy

HeldOutMethod = Literal["auto", "closed_form", "out_of_bag", "span", "folds"]
AUTO_METHOD: Literal["auto"] = "auto"
AUTO_NORMALISATION = "auto"
ErrorFactorRule = Literal["searched", "joachims", "fixed"]
SelectionScope = Literal["node", "level", "shared"]
Balance = Literal["auto", "sides", "none"]
GroupWeighting = Literal["equal", "greedy"]
SecondStageChoice = Literal["auto", "clean", "rule", "none"]


@dataclass(frozen=True)
class TrainingConfig:
    """Components and numbers of a training.

    `kernels` compete under the `criterion`; without one the first is taken as it is, with `C`. `large` is the trainer
    of dichotomies that are too large for `trainer`. `recipe`, `window`, `hop` and `taxonomy` say how a corpus becomes
    features and groups of labels; who brings features of his own has no recipe. `chosen` names what somebody stated.
    """

    strategy: Strategy | DirectStrategy = slot("strategy", "hybrid_dendrogram", "how labels are told apart")
    kernels: tuple[Kernel, ...] = slot("kernel", "gaussian_unscaled", "kernel, or several that compete: `a+b`")
    trainer: Trainer = slot("trainer", "least_squares", "binary trainer")
    calibrator: Calibrator = slot("calibrator", "platt", "scores to probabilities")
    criterion: Criterion | None = slot(
        "criterion", "leave_group_out_log_loss", "what chooses kernel parameters and C; `fixed` for none"
    )
    search: Search | None = slot("search", "pattern", "how the criterion is searched")
    large: Trainer | None = slot("trainer", "landmarks", "trainer of dichotomies with very many examples")
    C: float = parameter(10.0, above=0.0, help="C where nothing chooses it")
    c_rule: ErrorFactorRule = parameter(
        "searched",
        choices=("searched", "joachims", "fixed"),
        help="how C is chosen: with the kernel, by Joachims' rule, or not at all",
    )
    c_range: tuple[float, ...] = parameter(
        (0.1, 1000.0),
        above=0.0,
        help="interval in which C is searched; the default is widened where C ends at an end of it",
    )
    balance: Balance = parameter(
        "auto",
        choices=("auto", "sides", "none"),
        help="whether the sides of a dichotomy weigh the same; `auto`: unless they are held out in closed form",
    )
    normalisation: str = parameter(
        AUTO_NORMALISATION,
        choices=(AUTO_NORMALISATION, "rank", "waves", "standard", "none"),
        help="of each feature; `waves` are cosines of ranks, which `auto` takes for many features in groups unless"
        " held-out sources are told better by ranks",
    )
    group_weights: GroupWeighting = parameter(
        "greedy",
        choices=("equal", "greedy"),
        help="how groups of features share in distances: as the recipe says, or by a greedy search on held-out groups"
        " where that proves better on others",
    )
    axes: int = parameter(
        0,
        low=0,
        help="principal axes of the normalised features along which machines compare examples, a few hundred for some"
        " thousand features: faster models, and smaller ones of many examples; by default 0, the features themselves",
    )
    feature_shares: tuple[float, ...] = parameter(
        (), above=0.0, high=1.0, help="shares of the features to try, those first that tell the sides apart"
    )
    selection_scope: SelectionScope = parameter(
        "shared",
        choices=("node", "level", "shared"),
        help="dichotomies that share one kernel and C: none, those of a level of the tree, or those of the same labels",
    )
    selection_rows: int = parameter(1000, low=2, help="most examples that kernel parameters are chosen on")
    selection_folds: int = parameter(
        10, low=2, help="folds of criteria that train on folds (k_fold_error, validation_error), instead of `folds`"
    )
    held_out: HeldOutMethod = parameter(
        AUTO_METHOD,
        choices=typing.get_args(HeldOutMethod),
        help="where held-out scores come from, of what the trainer has; `auto`: the closed form or what bags left out,"
        " else the span where groups are small, else folds",
    )
    folds: int = parameter(
        5, low=2, help="folds of held-out scores, for `held_out=folds`, and of criteria that train on folds"
    )
    calibrate_posteriors: bool = parameter(
        True,
        help="temper the posteriors of the strategy on held-out groups where that lowers their log-loss; on by default",
    )
    links: tuple[LabelLink, ...] = slot(
        "link",
        EVERY_LINK,
        "scores or posteriors of labels to logits: a link, several that compete as `a+b`, `auto`, `none`",
    )
    second_stage: SecondStageChoice = parameter(
        "auto",
        choices=typing.get_args(SecondStageChoice),
        help="learn which labels attract others, where that lowers the log-loss of held-out groups: `clean` trains"
        " again without each of five folds, `rule` takes a penalty of 40/rows, `auto` is the first where it is cheap",
    )
    large_rows: int = parameter(6000, low=2, help="examples of one factorisation beyond which `large` takes over")
    recipe: Recipe | Literal["auto"] | None = slot(
        "recipe",
        AUTO_RECIPE,
        "how recordings become features; see `audioclass recipes`; `auto` chooses on a sample of the corpus",
    )
    window: float | None = parameter(
        None,
        above=0.0,
        help="seconds of a window; by default half of what labelled parts of recordings last, at most the recipe's",
    )
    hop: float | None = parameter(
        None, above=0.0, help="seconds between windows; by default half of a window that is shorter than the recipe's"
    )
    versions: tuple[float, ...] = parameter(
        (),
        low=0.5,
        high=2.0,
        help="speeds at which every window is trained on, the first of them 1, as in `1, 15/14, 14/15`, instead of the"
        " recipe's",
    )
    average_versions: bool = parameter(
        True,
        help="average scores over the versions of a window also when a model answers, which takes that much longer; on"
        " by default",
    )
    judge_versions: bool = parameter(
        True, help="keep the versions of a recipe only where they lower the log-loss of held-out groups; on by default"
    )
    taxonomy: Taxonomy | Literal["learn"] | None = slot(
        "taxonomy", "", "TOML file or folder with the tree of labels, or `learn`"
    )
    chosen: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        for option in OPTIONS:
            if option.parameter is not None:
                object.__setattr__(self, option.field, option.check(getattr(self, option.field)))
        if len(self.c_range) != 2 or not self.c_range[0] < self.c_range[1]:
            raise UsageError(f"c_range={self.c_range} must be two values, the lower first")
        if self.selection_scope == "level" and not isinstance(self.strategy, HasTree):
            raise UsageError(f"selection_scope=level: strategy {self.strategy.name!r} has no tree; use node or shared")
        learner = self.trainer if isinstance(self.strategy, Strategy) else self.strategy
        is_stated = not self.chosen.isdisjoint({"criterion", "trainer", "strategy"})
        if self.criterion is not None and is_stated and learner.wants != "features":
            check_judges(self.criterion, learner)  # before any work; a selection checks it for the trainer it judges

    @classmethod
    def of(
        cls,
        stated: Mapping[str, Any],
        run: Run,
        *,
        sources: Mapping[str, str] | None = None,
        chosen: Collection[str] | None = None,
        checks_effects: bool = True,
    ) -> TrainingConfig:
        """From what was stated: names, texts such as `name:parameter=value`, tables, or components.

        What nobody stated has its default. `sources` are the files that names of `stated` stand in, for errors.
        `chosen` are the names that somebody chose, all that are stated unless told; one of these that has no effect is
        refused, unless the caller checks that for several configurations at once.

        >>> from audioclass.engine.runs import make_run
        >>> stated = {"strategy": "one_vs_one", "kernel": {"name": "gaussian", "sigma": 2}, "C": 1}
        >>> config = TrainingConfig.of(stated, make_run())
        >>> config.to_plain()["kernel"], config.C, config.trainer.name
        ('gaussian:sigma=2.0', 1.0, 'least_squares')
        """
        options = {name: option for option in OPTIONS for name in option.names}
        for name in stated:
            if name not in options:
                raise unknown_name("option", name, options)
        values = {options[name]: value for name, value in stated.items()}
        fields = {}
        for option in OPTIONS:
            try:
                fields[option.field] = option.resolve(values.get(option, option.default), run)
            except UsageError as error:
                source = (sources or {}).get(option.name)
                raise UsageError(f"{source}: {error}" if source else str(error)) from error
        names = stated if chosen is None else chosen
        config = cls(**fields, chosen=frozenset(options[name].field for name in names)).with_folds().with_windows()
        if checks_effects:
            from audioclass.training.effects import check_effects  # help goes without it

            check_effects([config], sources)
        return config

    def with_folds(self) -> TrainingConfig:
        """Folds that were stated are those of the criterion too, and used where the size of groups would decide."""
        if "folds" not in self.chosen:
            return self
        selection_folds = self.selection_folds if "selection_folds" in self.chosen else self.folds
        has_span = self.held_out == AUTO_METHOD and getattr(self.learner, "has_span", False)
        return replace(self, selection_folds=selection_folds, held_out="folds" if has_span else self.held_out)

    def with_windows(self) -> TrainingConfig:
        """The recipe with the windows and versions that were stated; those of one to be chosen are checked."""
        recipe = self.known_recipe
        if recipe is None:
            if self.recipe is not None and self.versions:
                from audioclass.extraction.recipe_limits import stated_versions  # help goes without it

                stated_versions(AUTO_RECIPE, {"versions": list(self.versions)})
            return self
        window = recipe.window if self.window is None else self.window
        hop = recipe.hop_for(window) if self.hop is None else self.hop
        recipe = recipe.with_windows(window, hop)
        return replace(self, recipe=recipe.with_versions(self.versions) if self.versions else recipe)

    def to_plain(self) -> dict[str, Any]:
        """The choices of the method as texts and numbers: what `of` takes back, with nothing `chosen`."""
        plain = {option.name: option.text(getattr(self, option.field)) for option in OPTIONS if not option.is_of_corpus}
        if self.known_recipe is None or not self.has_versions:
            return plain
        plain |= {"versions": str(list(self.known_recipe.versions)), "average_versions": self.average_versions}
        return plain | {"judge_versions": self.judges_versions}

    @property
    def has_versions(self) -> bool:
        """Whether windows are trained on in several versions, or may be where the recipe is yet to be chosen."""
        if self.known_recipe is None:
            return self.recipe is not None and len(self.versions) != 1
        return len(self.known_recipe.versions) > 1

    @property
    def known_recipe(self) -> Recipe | None:
        """The recipe; None also where it is yet to be chosen."""
        return None if isinstance(self.recipe, str) else self.recipe

    @property
    def judges_versions(self) -> bool:
        """Whether versions must earn their place: those of the recipe, or any where that was stated."""
        is_asked = "judge_versions" in self.chosen or "versions" not in self.chosen
        return self.has_versions and self.judge_versions and is_asked

    @property
    def is_direct(self) -> bool:
        """Whether the strategy fits all labels at once."""
        return not hasattr(self.strategy, "plan")

    @property
    def learner(self) -> Trainer | DirectStrategy:
        """What fits machines: the trainer of dichotomies, or the strategy that fits all labels at once."""
        return typing.cast("DirectStrategy", self.strategy) if self.is_direct else self.trainer

    @property
    def states_c_range(self) -> bool:
        """Whether C must stay in its range, because somebody chose it."""
        return "c_range" in self.chosen or self.c_range != type(self).c_range

    @property
    def selects_on_folds(self) -> bool:
        """Whether the criterion trains on as many folds as held-out scores have."""
        if self.criterion is None or self.learner.wants == "features":
            return False
        return "folds" in self.criterion.depends_on and "selection_folds" not in self.chosen

    def for_label_sets(self, run: Run) -> TrainingConfig:
        """The same for labels that overlap: binary relevance, unless a strategy that can tell them was chosen."""
        if isinstance(self.strategy, TellsLabelsIndependently):
            return self
        if "strategy" in self.chosen:
            raise UsageError(
                f"strategy={self.strategy.name} tells one label at a time, labels of the corpus overlap;"
                f" {MULTI_LABEL_STRATEGY} can tell them"
            )
        return replace(self, strategy=run.component("strategy", MULTI_LABEL_STRATEGY))

    def guided_by(self, taxonomy: Taxonomy | None, run: Run) -> TrainingConfig:
        """The same with the hybrid dendrogram on a given taxonomy, unless a strategy was chosen."""
        if taxonomy is None or "strategy" in self.chosen:
            return self
        strategy = run.component("strategy", {"name": DEFAULT_STRATEGY, "tree": "taxonomy", "below": "average"})
        return replace(self, strategy=strategy)


DEFAULT_STRATEGY = "hybrid_dendrogram"
MULTI_LABEL_STRATEGY = "binary_relevance"
# Names that only type checkers import stand in slots, whose hints nobody reads.
OPTIONS = options_of(
    TrainingConfig, typing.get_type_hints(TrainingConfig, localns={"Recipe": object, "Taxonomy": object})
)
METHOD_OPTIONS = tuple(option for option in OPTIONS if not option.is_of_corpus)
