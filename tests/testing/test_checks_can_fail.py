"""A check that cannot fail is no check: components that are broken on purpose, and the check that notices each."""

import dataclasses
import itertools
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import pytest
import typer

from audioclass import testing
from audioclass.data import Annotations, Clip, Corpus, Posteriors, Segment
from audioclass.formats.texts import one_line
from audioclass.hookspecs import KINDS
from audioclass.parameters import component, parameter
from audioclass.problems import Dichotomy, FeatureMachine, Found, Machine, Plan, Trial
from audioclass.testing.checks import COMMON, require_checks, run_checks

COUNT = itertools.count()


def template(kind):
    return import_module(f"audioclass.plugins.templates.{kind}").ExampleName


def broken(kind, **members):
    """The working component of the template with some members replaced by wrong ones."""
    return type("Broken", (template(kind),), {"__doc__": "Broken on purpose.", **members})()


def failed(component, checks):
    """The sentences of the checks that a component fails."""
    return " ".join(result.sentence for result in run_checks(component, checks) if result.outcome == "failed")


def app_of(function, **settings):
    app = typer.Typer()
    app.command(**settings)(function)
    return app


def has_a_silent_option(depth: int = 1) -> None:
    """Do something."""


def has_a_default_that_is_no_value(
    depth: Annotated[str, typer.Option(help="How deep.", show_default=str(dataclasses.MISSING))] = "",
) -> None:
    """Do something."""


def takes_anything(words: list[str]) -> None:
    """Do something."""


def add_one_in_place(array):
    array += 1
    return array


def drop_first_label(self, labels, geometry, taxonomy, rng):
    return Plan(len(labels), (Dichotomy((1,), tuple(range(2, len(labels))) or (0,)),))


def biased(self, plan, probabilities, scores, counts, fitted):
    P = template("strategy").combine(self, plan, probabilities, scores, counts, fitted)
    return (P + np.eye(plan.n_labels)[0]) / 2


def wrong_trace(self, space, objective, rng):
    point = {axis.name: axis.at(0.5) for axis in space}
    return Found(point, 0.0, (Trial(point, 0.0),))


def outside(self, space, objective, rng):
    point = {axis.name: axis.high + 1 for axis in space}
    return Found(point, objective.value(point), (Trial(point, objective.value(point)),))


def nan_wins(self, space, objective, rng):
    points = [{axis.name: axis.at(f) for axis in space} for f in (0.9, 0.6, 0.5)]
    trace = tuple(Trial(point, objective.value(point)) for point in points)
    return Found(trace[0].point, trace[0].value, trace)


def wrongly_named(self, task):
    return FeatureMachine({"X": task.X})


def nothing_held_out(self, task, groups):
    """Scores that saw everything: those of the labels themselves."""
    n_labels = getattr(task, "n_labels", None)
    return self.fit(task), task.y.astype(float) if n_labels is None else np.eye(n_labels)[task.y]


def held_out_in_vain(self, task, Y, groups):
    """Machines as they should be, and the labels themselves for scores."""
    machines = [template("trainer").fit(self, replace(task, y=y)) for y in Y.T]
    coefficients = np.column_stack([machine.coefficients for machine in machines])
    return Machine(machines[0].support, coefficients, np.array([m.intercept for m in machines])), Y.astype(float)


def mixed_up(self, task, Y, groups):
    """Every dichotomy fitted as their mean."""
    machine, scores = held_out_in_vain(self, task, Y, groups)
    mean = np.tile(machine.coefficients.mean(axis=1, keepdims=True), Y.shape[1])
    return replace(machine, coefficients=mean), scores


def silent_windows(windows):
    return np.zeros((len(windows), 3))


def only_of_labels(result):
    """The result without segments that a group or `unknown` names."""
    rows = [i for i, segment in enumerate(result.segments) if segment.label in result.labels]
    files, segments = (tuple(each[i] for i in rows) for each in (result.files, result.segments))
    return replace(result, files=files, segments=segments, P=result.P[rows])


BROKEN = {
    "kernel": {
        "a column for each": {"of": lambda self, S: np.exp(-S[:, 0])},
        "diagonal of K": {"of": lambda self, S: np.exp(-S) if S.ndim == 2 else np.ones((len(S), 1))},
        "symmetric": {"statistic": staticmethod(lambda X, Y: X[:, :1] - Y[:, :1].T)},
        "Mercer": {"of": lambda self, S: -1 - S},
        "central difference": {"gradients": lambda self, S, K: {"sigma": K}},
        "knows K − 1": {"minus_one": lambda self, S: self.of(S) - 1},
        "does not change": {"of": lambda self, S: np.exp(-add_one_in_place(S))},
        "float32": {"of": lambda self, S: np.exp(-S.astype(np.float64))},
        "depends on its two examples alone": {"of": lambda self, S: np.exp(-S / S.mean())},
        "and is finite": {"of": lambda self, S: np.full_like(S, np.nan)},
    },
    "trainer": {
        "Scores of new examples": {"fit": lambda self, task: negated(template("trainer").fit(self, task))},
        "weight 0": {"fit": lambda self, task: template("trainer").fit(self, replace(task, weights=np.ones(len(task.y))))},
        "same scores to the bit": {"fit": lambda self, task: jittered(template("trainer").fit(self, task))},
        "A machine is": {"wants": "features", "fit": wrongly_named, "scores": lambda self, machine, X: X[:, 0]},
        "finite arrays": {"fit": lambda self, task: replace(template("trainer").fit(self, task), intercept=np.nan)},
        "It wants": {"wants": "everything"},
        "Scores out of the bag": {"fit_out_of_bag": nothing_held_out},
        "Held-out scores": {"fit_and_hold_out": held_out_in_vain},
        "as if each were alone": {"fit_and_hold_out": mixed_up},
        "those of the optimum": {"loss": "hinge"},
        "states the loss": {"loss": "zero_one"},
    },
    "calibrator": {
        "Every score": {"probabilities": lambda self, s, f: template("calibrator").probabilities(self, s, f)[:, None]},
        "never falls": {"probabilities": lambda self, scores, fitted: 1 / (1 + np.exp(np.clip(scores, -50, 50)))},
        "plain numbers": {"fit": lambda self, scores, y, weights: {"slope": np.float64(1), "offset": np.float64(0)}},
        "predicts labels better": {"fit": lambda self, scores, y, weights: {"slope": 0.0, "offset": 0.0}},
        "weight 2": {"fit": lambda self, s, y, w: template("calibrator").fit(self, s, y, np.ones(len(w)))},
        "are a ValueError": {"fit": lambda self, s, y, w: {"slope": 1.0, "offset": 0.0}},
    },
    "strategy": {
        "contradict one another": {"combine": lambda self, plan, p, s, c, f: np.column_stack([p, 1 - p]) if plan.n_labels == 2 else p},
        "for sure and unsure machines": {"combine": lambda self, plan, p, s, c, f: template("strategy").combine(self, plan, p, s, c, f)[:, :-1]},
        "every label takes part": {"plan": drop_first_label},
        "sum to 1": {"combine": lambda self, plan, p, s, c, f: np.ones((len(p), plan.n_labels))},
        "Permuting the labels": {"combine": biased},
        "decided on": {"combine": lambda self, plan, p, s, c, f: np.full((len(p), plan.n_labels), 1 / plan.n_labels)},
        "index of a label": {"decide": lambda self, plan, P, scores: P.max(axis=1)},
        "by that row alone": {"decide": lambda self, plan, P, scores: P.argmax(axis=1)[::-1]},
        "JSON gives back": {"plan": lambda self, labels, g, t, r: replace(template("strategy").plan(self, labels, g, t, r), structure={"a": np.ones(1)})},
        "rows beside it": {"combine": lambda self, plan, p, s, c, f: template("strategy").combine(self, plan, p / p.max(), s, c, f)},
        "scores of labels and of groups": {"label_scores": lambda self, plan, scores: scores[:, :1] * np.ones(plan.n_labels + 1)},
        "Pruning keeps": {"prune": lambda self, plan, p, s, y, c: replace(plan, dichotomies=plan.dichotomies[::-1])},
    },
    "link": {
        "logits for each row": {"logits": lambda self, evidence, fitted: evidence.P[:, 0]},
        "plain numbers": {"fit": lambda self, evidence, y, weights: {"factor": np.float64(1)}},
        "labels better": {"logits": lambda self, evidence, fitted: np.zeros_like(evidence.P)},
        "weight 2": {"fit": lambda self, e, y, w: template("link").fit(self, e, y, np.ones(len(w)))},
        "by itself": {"logits": lambda self, evidence, fitted: evidence.P - evidence.P.mean(axis=0)},
        "Permuting the labels": {"logits": lambda self, evidence, fitted: np.log(evidence.P) + np.arange(evidence.P.shape[1])},
        "are survived": {"logits": lambda self, evidence, fitted: np.log(evidence.P)},
    },
    "direct_strategy": {
        "a score for each label": {"combine": lambda self, scores, f: template("direct_strategy").combine(self, scores, f)[:, 0]},
        "sum to 1": {"combine": lambda self, scores, fitted: np.ones_like(scores)},
        "named as a model can": {"wants": "features", "fit": wrongly_named, "scores": lambda self, machine, X: X},
        "told apart": {"combine": lambda self, scores, fitted: np.full_like(scores, 1 / scores.shape[1])},
        "never saw their group": {"fit_out_of_bag": nothing_held_out},
        "fits for its combination": {"fit_combination": lambda self, scores, y: {"temperature": np.float64(1)}},
        "rows beside it": {"combine": lambda self, scores, fitted: template("direct_strategy").combine(self, scores - scores.mean(axis=0), fitted)},
    },
    "criterion": {
        "scores better": {"better": "lower"},
        "central difference": {"gradient": lambda self, problem: {"sigma": 1.0}},
        "Shuffling": {"value": lambda self, problem: float(problem.K[0] @ problem.y)},
        "Swapping": {"value": lambda self, problem: float(problem.K.sum(axis=0) @ problem.y)},
        "finite number": {"value": lambda self, problem: float("nan")},
        "says whether": {"better": "bigger"},
        "`depends_on` names": {"depends_on": frozenset({"C"})},
        "changes with those": {"value": lambda self, problem: template("criterion").value(self, problem) / problem.C},
        "and with no other": {"depends_on": frozenset({"sigma"})},
        "that it judges": {"judges": frozenset({"zero_one"})},
        "names do not matter": {"takes_labels": True},
    },
    "search": {
        "best of its trace": {"search": wrong_trace},
        "lies in the space": {"search": outside},
        "NaN": {"search": nan_wins},
    },
    "smoother": {
        "the same label": {"smooth": lambda self, p: replace(p, P=p.P[:, ::-1])},
        "Windows and labels stay": {"smooth": lambda self, p: Posteriors(p.P, p.labels[::-1], p.segments)},
        "does not change": {"smooth": lambda self, p: replace(p, P=np.random.default_rng().dirichlet((1, 1, 1), len(p.P)))},
        "says the same label": {"smooth": lambda self, p: replace(p, P=np.full(p.P.shape, 1 / 3))},
        "later windows": {"look_ahead": 0},
        "rows in portions": {"stream": lambda self, n_labels: import_module("audioclass.smoothers.none").NoSmoothing().stream(n_labels)},
        "permutes the columns": {"smooth": lambda self, p: replace(p, P=(p.P + np.eye(3)[0]) / 2)},
    },
    "format": {
        "or `unknown`": {"write": lambda self, result, stream: stream.writelines(f"{s.start}\t{s.end}\t{row[result.labels.index(s.label)]}\t{one_line(s.label)}\n" for s, row in zip(result.segments, result.P, strict=True))},
        "named by a group": {"write": lambda self, result, stream: template("format").write(self, only_of_labels(result), stream)},
        "comes back exactly": {"read": lambda self, stream: Annotations({})},
        "space around it": {"write": lambda self, result, stream: stream.writelines(f"{s.start}\t{s.end}\t1\t{s.label}\n" for s in result.segments)},
        "those of two": {"names_recordings": True},
        "a letter is not": {"suffixes": (".tsv",), "recognises": lambda self, first_line: True},
        "no file of the format": {"read": lambda self, stream: Annotations({"": [Segment(0, 1, "a")]})},
        "file suffix": {"suffix": "tsv"},
        "the same way twice": {"write": lambda self, result, stream: stream.write(f"{next(COUNT)}")},
        "without segments": {"write": lambda self, result, stream: result.segments[0]},
    },
    "corpus_reader": {
        "empty folder": {"matches": lambda self, path: True},
        "names a file that exists": {"read": lambda self, path: Corpus((Clip(Path("no.wav"), "a"), Clip(Path("no.wav"), "b")))},
        "CorpusError": {"read": lambda self, path: Corpus(())},
    },
    "descriptor": {
        "one frame or none": {"frames": lambda self, spectra: spectra.power[:, 0]},
        "digital silence": {"frames": lambda self, spectra: np.log(np.where(spectra.power.sum(axis=1) > 0, 1.0, np.nan))[:, None]},
        "one row for each frame": {"frames": lambda self, spectra: spectra.power[:3, :1]},
        "own frame": {"frames": lambda self, spectra: np.cumsum(spectra.power[:, :1], axis=0)},
        "views that others read": {"frames": lambda self, spectra: add_one_in_place(spectra.power)[:, :1]},
        "name of its own": {"columns": lambda self, framing: ["same", "same"]},
    },
    "embedding": {
        "for each name": {"embed": lambda self, samples, rate: template("embedding").embed(self, samples, rate)[None]},
        "one finite value": {"embed": lambda self, samples, rate: np.zeros(2)},
        "different vectors": {"embed": lambda self, samples, rate: np.zeros(6)},
        "one by one": {"embed_many": lambda self, windows, rate: np.zeros((len(windows), 6))},
        "are a ValueError": {"embed": lambda self, samples, rate: np.full(6, np.nansum(samples))},
    },
    "pooling": {
        "one row of finite values": {"pool": lambda self, windows, rate: windows.mean(axis=(1, 2))},
        "windows beside it": {"pool": lambda self, windows, rate: np.tile(windows.mean(axis=(0, 1)), (len(windows), 1))},
        "one frame or two": {"pool": lambda self, windows, rate: np.full((len(windows), 3), np.nan) if windows.shape[1] < 3 else silent_windows(windows)},
        "all alike": {"pool": lambda self, windows, rate: np.where(windows.std(axis=1) == 0, np.nan, 1.0)},
        "does not change": {"pool": lambda self, windows, rate: add_one_in_place(windows).mean(axis=1)},
    },
    "command": {
        "gives a Typer application": {"app": lambda self: print},
        "`--help` works": {"app": lambda self: app_of(has_a_silent_option, context_settings={"help_option_names": []})},
        "shows no insides": {"app": lambda self: app_of(has_a_default_that_is_no_value)},
        "has a sentence of help": {"app": lambda self: app_of(lambda: None)},
        "Each option has": {"app": lambda self: app_of(has_a_silent_option)},
        "exit code 2": {"app": lambda self: app_of(takes_anything, context_settings={"ignore_unknown_options": True})},
    },
}  # fmt: skip
CASES = [(kind, check, members) for kind, checks in BROKEN.items() for check, members in checks.items()]


def negated(machine):
    return replace(machine, coefficients=-machine.coefficients, intercept=-machine.intercept)


def jittered(machine):
    return replace(machine, intercept=machine.intercept + 1e-9 * np.random.default_rng().standard_normal())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("kind", "check", "members"), CASES, ids=[f"{kind}-{check}" for kind, check, _ in CASES])
def test_a_broken_component_is_noticed(kind, check, members):
    component = broken(kind, **members)
    assert check in failed(component, testing.CHECKS[kind])
    with pytest.raises(AssertionError, match=r"Broken fails \d+ of \d+ checks"):
        getattr(testing, f"check_{kind}")(component)


@component
class Centred:
    """How far the mean of each window is from the mean of training windows."""

    name: ClassVar[str] = "centred"

    def columns(self, columns):
        return [f"{column}_centred" for column in columns]

    def fit(self, windows, frame_rate, rng):
        return {"mean": np.mean([window.mean(axis=0) for window in windows], axis=0)}

    def pool(self, windows, frame_rate, fitted):
        mean = np.asarray(fitted.get("mean", ()))
        if mean.shape != windows.shape[2:] or not np.isfinite(mean).all():
            raise ValueError("mean must be finite, one for each column")
        return np.array([np.ascontiguousarray(window).mean(axis=0) - mean for window in windows]).reshape(-1, len(mean))


def pool_together(self, windows, frame_rate, fitted):
    return Centred.pool(self, windows, frame_rate, fitted) - windows.sum() * 1e-6


BROKEN_FITTED = {
    "before anything is learnt": {"columns": lambda self, columns: ["same"] * len(columns)},
    "that a model can hold": {"fit": lambda self, windows, rate, rng: {"mean": np.full(24, np.inf)}},
    "to the bit, and windows": {"fit": lambda self, windows, rate, rng: {"mean": np.full(24, float(next(COUNT)))}},
    "are enough to learn from": {"fit": lambda self, windows, rate, rng: {"mean": np.std([*windows], axis=(0, 1), ddof=39)}},
    "one finite row": {"pool": lambda self, windows, rate, fitted: windows.std(axis=(1, 2))},
    "whatever windows come with it": {"pool": pool_together},
    "are a ValueError": {"pool": lambda self, windows, rate, fitted: windows.mean(axis=1) - fitted["mean"]},
}  # fmt: skip


def test_a_fitted_pooling_that_works_passes_every_check():
    testing.check_fitted_pooling(Centred())
    testing.check_pooling(Centred())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("check", "members"), BROKEN_FITTED.items(), ids=BROKEN_FITTED)
def test_a_broken_fitted_pooling_is_noticed(check, members):
    pooling = type("Broken", (Centred,), {"__doc__": "Broken on purpose.", **members})()
    assert check in failed(pooling, testing.CHECKS["pooling"])
    with pytest.raises(AssertionError, match=r"Broken fails \d+ of \d+ checks"):
        testing.check_fitted_pooling(pooling)


def test_every_kind_has_components_that_break_it():
    assert set(BROKEN) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_working_component_passes_every_check(kind):
    getattr(testing, f"check_{kind}")(template(kind)())


@dataclass(frozen=True)
class Careless:
    name: ClassVar[str] = "careless"
    sigma: float = parameter(1.0, above=0.0)


@component
class Unplain:
    """Keeps an array."""

    name: ClassVar[str] = "unplain"
    sigma: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "sigma", np.ones(2))


@dataclass
class Thawed:
    """Can be changed."""

    name: ClassVar[str] = "thawed"
    sigma: float = parameter(1.0, above=0.0)


@pytest.mark.parametrize(
    ("component", "check"),
    [
        (Careless(), "Its docstring says"),
        (Careless(), "outside its stated range"),
        (Unplain(), "round trip through JSON"),
        (Thawed(), "It is frozen"),
    ],
)
def test_checks_of_every_kind_can_fail(component, check):
    assert check in failed(component, COMMON)


def test_a_check_of_an_ability_that_is_missing_does_not_apply():
    trainer = template("trainer")()
    results = {result.sentence: result for result in run_checks(trainer, testing.CHECKS["trainer"])}
    [skipped] = {result for sentence, result in results.items() if sentence.startswith("Scores out of the bag")}
    assert (skipped.outcome, skipped.reason) == ("does not apply", "it has no fit_out_of_bag(task, groups)")


def test_a_component_that_ends_the_program_fails_the_check_it_ends():
    component = broken("kernel", of=lambda self, S: exit(0))
    results = run_checks(component, testing.CHECKS["kernel"])
    assert "SystemExit: 0" in {result.reason for result in results if result.outcome == "failed"}


def test_a_failed_contract_names_how_many_checks_fail():
    with pytest.raises(testing.CheckFailed, match=r"Careless fails 2 of 4 checks:\n- Its docstring says"):
        require_checks(Careless(), COMMON)
