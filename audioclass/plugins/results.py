"""What each method of a contract must give: looked at where a third party gives it, one line where it is not so.

Only what would fail, or pass unseen, further on: shapes, finite values, posteriors. `audioclass.testing` looks closer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

SUM_TOLERANCE = 1e-6  # of the posteriors of a row, as `data.Posteriors` has it


def flaw_of_result(kind: str, method: str, arguments: tuple[Any, ...], result: Any) -> str:
    """What is wrong with a result of a method called with these arguments, the component first; empty where nothing."""
    look = LOOKS.get((kind, method)) or LOOKS.get(("", method))
    if look is None:
        return ""
    try:
        return look(*arguments, result)
    except Exception as error:  # a result of another sort than anybody expected
        return f"{method} gave {type(result).__name__} that cannot be used: {type(error).__name__}"


def refusal_of_result(kind: str, method: str, arguments: tuple[Any, ...], result: Any) -> str:
    """Why a result cannot be used though it is of the right sort, as a kernel's of too large a parameter; or empty.

    Who called may go on with other parameters. Values that were not finite before the component had them are not its.
    """
    import numpy as np

    if kind != "kernel" or method not in ("of", "gram", "statistic"):
        return ""
    arrays = [each for each in arguments if isinstance(each, np.ndarray)]
    return _numbers(method, result) if all(np.isfinite(each).all() for each in arrays) else ""


def _shape(method: str, result: Any, expected: tuple[int | str, ...], what: str) -> str:
    """Whether an array has the expected shape; a word in it stands for any number."""
    import numpy as np

    shape = np.shape(result)
    is_right = len(shape) == len(expected) and all(
        isinstance(wanted, str) or wanted == actual for wanted, actual in zip(expected, shape, strict=True)
    )
    if is_right:
        return ""
    wanted = ", ".join(map(str, expected)) + ("," if len(expected) == 1 else "")
    return f"{method} gave shape {shape} for {what}, must be ({wanted})"


def _numbers(method: str, result: Any) -> str:
    """Whether all values are numbers and finite."""
    import numpy as np

    values = np.asarray(result)
    if values.dtype.kind not in "fiub":
        return f"{method} gave {values.dtype}, must give numbers"
    return "" if np.isfinite(values).all() else f"{method} gave NaN or infinite values"


def _posteriors(method: str, result: Any, scores: Any, n_labels: int) -> str:
    """Whether rows are at least 0 and sum to 1; rows whose scores are unknown are nobody's."""
    import numpy as np

    flaw = _shape(method, result, (len(scores), n_labels), f"{len(scores)} rows of {n_labels} labels")
    known = np.isfinite(scores).all(axis=1)
    if flaw or not known.any():
        return flaw
    P = np.asarray(result)[known]
    if flaw := _numbers(method, P):
        return flaw
    if (P < 0).any():
        return f"{method} gave a posterior of {P.min():.3g}, must be at least 0"
    worst = int(np.abs(P.sum(axis=1) - 1).argmax())
    total = P[worst].sum()
    if abs(total - 1) > SUM_TOLERANCE:
        return f"{method} gave posteriors of which a row sums to {total:.6g}, must sum to 1"
    return ""


def _independent(method: str, result: Any, scores: Any) -> str:
    """Whether every known row is of probabilities."""
    import numpy as np

    flaw = _shape(method, result, (len(scores), "labels"), f"{len(scores)} rows of single labels")
    if flaw:
        return flaw
    P = np.asarray(result)[np.isfinite(scores).all(axis=1)]
    flaw = _numbers(method, P)
    if not flaw and ((P < 0) | (P > 1)).any():
        return f"{method} gave a probability that is not from 0 to 1"
    return flaw


def _instance(method: str, result: Any, *names: str) -> str:
    """Whether the result is of one of these classes of ours, by name: nothing is imported to look."""
    if {cls.__name__ for cls in type(result).__mro__} & set(names):
        return ""
    return f"{method} gave {type(result).__name__}, must give {' or '.join(names)}"


def _mapping(method: str, result: Any) -> str:
    if isinstance(result, Mapping):
        return ""
    return f"{method} gave {type(result).__name__}, must give a mapping of names to numbers"


# --- from audio to features


def _frames(self: Any, spectra: Any, result: Any) -> str:
    expected = (spectra.n_frames, len(self.columns(spectra.framing)))
    what = f"{expected[0]} frames of {expected[1]} columns"
    return _shape("frames", result, expected, what) or _numbers("frames", result)


def _fit_pooling(*arguments: Any) -> str:
    result = arguments[-1]
    flaws = (_numbers(f"fit of {name!r}", array) for name, array in result.items())
    return _mapping("fit", result) or next(filter(None, flaws), "")


def _pool(self: Any, windows: Any, frame_rate: float, *more: Any) -> str:
    result = more[-1]  # what was learnt stands before it where the pooling learns
    # Only the number of names matters: a pooling is not told them with its windows.
    n_columns = len(self.columns([f"column_{i}" for i in range(windows.shape[2])]))
    what = f"{len(windows)} windows of {windows.shape[2]} columns"
    return _shape("pool", result, (len(windows), n_columns), what) or _numbers("pool", result)


def _embed(self: Any, samples: Any, sample_rate: int, result: Any) -> str:
    n = len(self.columns())
    return _shape("embed", result, (n,), f"{n} columns") or _numbers("embed", result)


def _embed_many(self: Any, windows: Any, sample_rate: int, result: Any) -> str:
    expected = (len(windows), len(self.columns()))
    flaw = _shape("embed_many", result, expected, f"{expected[0]} windows of {expected[1]} columns")
    return flaw or _numbers("embed_many", result)


# --- kernels and binary machines


def _of(self: Any, S: Any, result: Any) -> str:
    return _shape("of", result, S.shape, f"a statistic of shape {S.shape}")


def _gram(self: Any, X: Any, Y: Any, result: Any) -> str:
    return _shape("gram", result, (len(X), len(Y)), f"{len(X)} and {len(Y)} examples")


def _statistic(X: Any, Y: Any, result: Any) -> str:
    return _shape("statistic", result, (len(X), len(Y)), f"{len(X)} and {len(Y)} examples")


def _gradients(self: Any, S: Any, K: Any, result: Any) -> str:
    flaws = (_shape(f"gradients of {name!r}", part, K.shape, "K") for name, part in result.items())
    return _mapping("gradients", result) or next(filter(None, flaws), "")


def _fit(self: Any, task: Any, result: Any) -> str:
    return _instance("fit", result, "Machine", "FeatureMachine") or _machine(self, result, len(task.y))


def _machine(self: Any, machine: Any, n: int) -> str:
    """Whether a kernel machine stands on rows that there are, with a coefficient for each."""
    import numpy as np

    if not hasattr(machine, "support"):
        return ""
    support, coefficients = np.asarray(machine.support), np.asarray(machine.coefficients)
    if support.ndim != 1 or support.dtype.kind not in "iu" or len(coefficients) != len(support):
        return f"fit gave {len(coefficients)} coefficients for a support of shape {support.shape}"
    if len(support) and not 0 <= support.min() <= support.max() < n:
        return f"fit gave a machine of row {support.max()} where there are {n} examples"
    if machine.members is not None and hasattr(self, "combine"):
        return "fit gave a machine of members, must give one with an output for each label"
    return _numbers("fit", coefficients) or _numbers("fit", machine.intercept)


def _scores(self: Any, machine: Any, X: Any, result: Any) -> str:
    expected: tuple[int | str, ...] = (len(X), "labels") if hasattr(self, "combine") else (len(X),)
    return _shape("scores", result, expected, f"{len(X)} examples") or _numbers("scores", result)


def _held_out(method: str) -> Callable[..., str]:
    def look(self: Any, task: Any, *more: Any) -> str:
        *_, result = more
        if not isinstance(result, tuple) or len(result) != 2:
            return f"{method} gave {type(result).__name__}, must give a machine and its held-out scores"
        machine, scores = result
        if len(scores) != len(task.y):
            return f"{method} gave {len(scores)} held-out scores for {len(task.y)} examples"
        return _machine(self, machine, len(task.y))

    return look


def _probabilities(self: Any, scores: Any, fitted: Any, result: Any) -> str:
    import numpy as np

    flaw = _shape("probabilities", result, scores.shape, f"{len(scores)} scores")
    if flaw:
        return flaw
    values = np.asarray(result)[np.isfinite(scores)]  # a score that is unknown has no probability
    flaw = _numbers("probabilities", values)
    if flaw or not values.size or (values.min() >= 0 and values.max() <= 1):
        return flaw
    return f"probabilities gave values from {values.min():.3g} to {values.max():.3g}, must be from 0 to 1"


# --- many labels


def _plan(self: Any, labels: Any, geometry: Any, taxonomy: Any, rng: Any, result: Any) -> str:
    flaw = _instance("plan", result, "Plan")
    if flaw or result.n_labels == len(labels):
        return flaw
    return f"plan gave one of {result.n_labels} labels, must be of {len(labels)}"


def _combine(self: Any, plan: Any, probabilities: Any, scores: Any, counts: Any, fitted: Any, result: Any) -> str:
    if hasattr(self, "thresholds"):
        return _independent("combine", result, scores)
    return _posteriors("combine", result, scores, plan.n_labels)


def _combine_directly(self: Any, scores: Any, fitted: Any, result: Any) -> str:
    return _posteriors("combine", result, scores, scores.shape[1])


def _decide(self: Any, plan: Any, P: Any, scores: Any, result: Any) -> str:
    import numpy as np

    flaw = _shape("decide", result, (len(P),), f"{len(P)} rows")
    labels = np.asarray(result)
    if flaw or not len(P):
        return flaw
    if labels.dtype.kind not in "iu" or not 0 <= labels.min() <= labels.max() < plan.n_labels:
        return f"decide gave {labels.min()} to {labels.max()}, must give indices of {plan.n_labels} labels"
    return ""


# --- choosing


def _logits(self: Any, evidence: Any, fitted: Any, result: Any) -> str:
    n, n_labels = evidence.P.shape
    return _shape("logits", result, (n, n_labels), f"{n} rows of {n_labels} labels") or _numbers("logits", result)


def _value(self: Any, problem: Any, result: Any) -> str:
    import numpy as np

    if np.ndim(result) == 0 and np.asarray(result).dtype.kind in "fiub":
        return ""
    return f"value gave {type(result).__name__} of shape {np.shape(result)}, must give a number"


# --- at the two ends


def _smooth(self: Any, posteriors: Any, result: Any) -> str:
    flaw = _instance("smooth", result, "Posteriors")
    if flaw or (result.P.shape == posteriors.P.shape and result.labels == posteriors.labels):
        return flaw
    return f"smooth gave shape {result.P.shape} for windows of shape {posteriors.P.shape}, or other labels"


def _smoothed(n_labels: int, *more: Any) -> str:
    import numpy as np

    *_, result = more
    flaw = _shape("stream", result, ("rows", n_labels), f"{n_labels} labels")
    return flaw or _posteriors("stream", result, np.zeros((len(result), 1)), n_labels)


def _must_be(method: str, *names: str) -> Callable[..., str]:
    def look(*arguments: Any) -> str:
        return _instance(method, arguments[-1], *names)

    return look


def _must_map(method: str) -> Callable[..., str]:
    def look(*arguments: Any) -> str:
        return _mapping(method, arguments[-1])

    return look


LOOKS: dict[tuple[str, str], Callable[..., str]] = {
    ("descriptor", "frames"): _frames,
    ("pooling", "fit"): _fit_pooling,
    ("pooling", "pool"): _pool,
    ("embedding", "embed"): _embed,
    ("embedding", "embed_many"): _embed_many,
    ("kernel", "of"): _of,
    ("kernel", "gram"): _gram,
    ("kernel", "statistic"): _statistic,
    ("kernel", "gradients"): _gradients,
    ("trainer", "fit"): _fit,
    ("direct_strategy", "fit"): _fit,
    ("", "scores"): _scores,
    ("trainer", "fit_and_hold_out"): _held_out("fit_and_hold_out"),
    ("", "fit_out_of_bag"): _held_out("fit_out_of_bag"),
    ("calibrator", "fit"): _must_map("fit"),
    ("calibrator", "probabilities"): _probabilities,
    ("strategy", "plan"): _plan,
    ("strategy", "prune"): _must_be("prune", "Plan"),
    ("strategy", "plan_next"): _must_be("plan_next", "Round", "NoneType"),
    ("strategy", "combine"): _combine,
    ("strategy", "decide"): _decide,
    ("direct_strategy", "combine"): _combine_directly,
    ("", "fit_combination"): _must_map("fit_combination"),
    ("link", "fit"): _must_map("fit"),
    ("link", "logits"): _logits,
    ("criterion", "value"): _value,
    ("criterion", "gradient"): _must_map("gradient"),
    ("search", "search"): _must_be("search", "Found"),
    ("smoother", "smooth"): _smooth,
    ("smoother", "push"): _smoothed,
    ("smoother", "finish"): _smoothed,
    ("format", "read"): _must_be("read", "Annotations"),
    ("corpus_reader", "read"): _must_be("read", "Corpus"),
    ("command", "app"): _must_be("app", "Typer"),
}
