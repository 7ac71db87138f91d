"""Options that a configuration leaves without effect: whoever states one is told so before any work."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from audioclass.contracts import ClimbsLosses, HasGradient, NeedsWindow, StatesLoss
from audioclass.errors import UsageError
from audioclass.kernels.gaussian_scaled import window_of
from audioclass.training.config import AUTO_METHOD, OPTIONS, TrainingConfig
from audioclass.training.held_out import held_out_methods
from audioclass.training.refinement import as_unscaled

SELECTION = (
    "search",
    "c_rule",
    "c_range",
    "selection_scope",
    "selection_rows",
    "selection_folds",
    "feature_shares",
)
OF_DICHOTOMIES = ("trainer", "calibrator", "large", "large_rows", "selection_scope")


def check_effects(
    configs: Iterable[TrainingConfig], sources: Mapping[str, str] | None = None, *, overruled: Collection[str] = ()
) -> None:
    """Refuse a held-out method that a learner does not have, and what was stated without effect in every one of them.

    `sources` are the files that options were stated in, for errors. Fields that are `overruled` may be without effect:
    they have one in their file, but for what was stated over it.
    """
    configs = list(configs)
    for config in configs:
        check_held_out_method(config)
        check_window(config)
        check_derivatives(config)
        check_clean_folds(config)
    reasons = [without_effect(config) for config in configs]
    for option in OPTIONS:
        is_stated = option.field not in overruled and any(option.field in config.chosen for config in configs)
        if is_stated and reasons and all(option.field in each for each in reasons):
            where = (sources or {}).get(option.name)
            stated = f"{option.name}={option.text(getattr(configs[0], option.field))}"
            raise UsageError(f"{where + ': ' if where else ''}{stated} has no effect: {reasons[0][option.field]}")


def check_held_out_method(config: TrainingConfig) -> None:
    """Refuse one that the trainer, or the strategy that fits all labels at once, does not have."""
    methods = held_out_methods(config.learner, is_direct=config.is_direct)
    if config.held_out not in (AUTO_METHOD, *methods):
        has = ", ".join((AUTO_METHOD, *methods))
        raise UsageError(f"held_out={config.held_out}: {_named_learner(config)} does not have it, it has {has}")


def check_clean_folds(config: TrainingConfig) -> None:
    """Refuse inner folds with machines of their own where all labels are fitted at once."""
    if config.second_stage == "clean" and config.is_direct:
        raise UsageError(f"second_stage=clean: {_named_learner(config)} fits all labels at once; use rule or auto")


def check_window(config: TrainingConfig) -> None:
    """Refuse a criterion that only a Gaussian kernel has a value for, where none competes under it."""
    criterion = config.criterion
    if not isinstance(criterion, NeedsWindow) or not criterion.needs_window or config.learner.wants == "features":
        return
    if all(window_of(kernel, 1) is None for kernel in config.kernels):
        names = "+".join(dict.fromkeys(kernel.name for kernel in config.kernels))
        raise UsageError(f"criterion {criterion.name} needs a Gaussian kernel, which alone is a window; kernel={names}")


def check_derivatives(config: TrainingConfig) -> None:
    """Refuse a search that climbs a criterion without derivatives, or without any for the machine that it judges."""
    criterion, search, learner = config.criterion, config.search, config.learner
    is_stated = not config.chosen.isdisjoint({"search", "criterion", "trainer", "strategy"})
    if criterion is None or search is None or not search.needs_gradient or learner.wants == "features" or not is_stated:
        return
    loss = learner.loss if isinstance(learner, StatesLoss) else None
    lacks = isinstance(criterion, ClimbsLosses) and loss not in criterion.climbs
    if lacks or not isinstance(criterion, HasGradient):
        where = f" for {_named_learner(config)}" if lacks else ""
        raise UsageError(f"search={search.name} needs derivatives, criterion {criterion.name} has none{where}")


def without_effect(config: TrainingConfig) -> dict[str, str]:
    """Why, for each field that changes nothing in this configuration; what is at its default may be among them."""
    return _of_selection(config) | _of_learner(config) | _of_folds(config) | _of_versions(config)


def _of_versions(config: TrainingConfig) -> dict[str, str]:
    """Options of versions where there is one."""
    if config.has_versions or config.recipe is None:
        return {}
    return dict.fromkeys(("average_versions", "judge_versions"), "windows are trained on in one version")


def _of_selection(config: TrainingConfig) -> dict[str, str]:
    """Options of the choice of kernels."""
    if config.learner.wants == "features":
        why = f"{_named_learner(config)} takes features, so that no kernel is chosen"
        return dict.fromkeys(("criterion", *SELECTION, *(["kernels"] if config.is_direct else [])), why)
    if config.criterion is None:
        return dict.fromkeys(SELECTION, "criterion=fixed chooses nothing")
    reasons, name = {}, config.criterion.name
    if "folds" not in config.criterion.depends_on:  # who holds out by the folds of training has those of `folds`
        reasons["selection_folds"] = f"criterion {name} trains on no folds"
    if config.c_rule != "searched":
        reasons["c_range"] = f"c_rule={config.c_rule} searches no C"
    elif "C" not in config.criterion.depends_on:
        reasons["c_range"] = f"criterion {name} does not depend on C, which is not searched"
    if config.c_rule == "joachims":
        reasons["C"] = "c_rule=joachims computes it"
    if all(as_unscaled(kernel, 1) is None for kernel in config.kernels):
        reasons["feature_shares"] = "only Gaussian kernels weigh features"
    return reasons


def _of_learner(config: TrainingConfig) -> dict[str, str]:
    """Options of dichotomies where there are none, and of what replaces a Gram matrix where there is none."""
    if config.is_direct:
        return dict.fromkeys(OF_DICHOTOMIES, f"{_named_learner(config)} fits all labels at once")
    if config.trainer.wants != "gram":
        return dict.fromkeys(("large", "large_rows"), f"{_named_learner(config)} fits no Gram matrix")
    return {"large_rows": "no trainer `large` takes over"} if config.large is None else {}


def _of_folds(config: TrainingConfig) -> dict[str, str]:
    """Folds of held-out scores, which a criterion that trains on folds has too."""
    if config.selects_on_folds or _holds_out_by_folds(config):
        return {}
    if config.held_out != AUTO_METHOD:
        return {"folds": f"held_out={config.held_out} uses none"}
    first = held_out_methods(config.learner, is_direct=config.is_direct)[0]
    return {"folds": f"{_named_learner(config)} holds groups out by {first}; held_out=folds uses them"}


def _holds_out_by_folds(config: TrainingConfig) -> bool:
    """For certain, or where groups are too large for a span."""
    if config.held_out != AUTO_METHOD:
        return config.held_out == "folds"
    return held_out_methods(config.learner, is_direct=config.is_direct)[0] in ("folds", "span")


def _named_learner(config: TrainingConfig) -> str:
    return f"{'strategy' if config.is_direct else 'trainer'} {config.learner.name}"
