"""Every multi-class strategy on one footing, beside scikit-learn's classifiers on the same features.

ESC-10 (five official folds), FSDD (one speaker left out at a time), FSDD as 60 labels, digit and speaker (folds by
recording index modulo 5), with and without its two taxonomies, and esc40, the other 40 labels of ESC-50 (its first
three folds, clips that are free to copy); `environment` recipe, rank normalisation, grouped distances. All our
strategies have the same least-squares machines with gamma 0.6, and C chosen on the training rows of each fold by leave-
group-out log-loss of one-vs-rest, for all strategies alike. Seconds are of the processor, the sum over folds;
strategies with the same dichotomies share their training. scikit-learn's machines have gamma 0.5 and C 10. `logloss`
and `ece` are those of the default, whose last step tempers posteriors on held-out groups where that lowers their log-
loss; `logloss_off` and `ece_off` are without it (`--no-calibrate-posteriors`). `ece_chance` is the ECE, in 15 bins,
that the posteriors would have on average if labels were drawn from them: no posteriors can be expected to have less.
Exhaustive codes are left out beyond 11 labels, where they have too many columns.
Keys: rows (corpus, strategy, accuracy, logloss, ece, logloss_off, ece_off, ece_chance, train_seconds, predict_seconds,
machines, support_vectors),
coupling_over_libsvm: seconds of coupling 100 000 rows of 10 labels over those of LIBSVM's `predict_proba` for them.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import json
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bench
import numpy as np
from recipes import features_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.svm import SVC

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.preprocessing import Preprocessing
from audioclass.evaluation.calibration import Binning
from audioclass.extraction.recipes import load_recipe
from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.numerics import log_loss
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Plan
from audioclass.run import Run
from audioclass.strategies.coupling import couple_hastie_tibshirani, pair_matrix
from audioclass.taxonomy import Taxonomy
from audioclass.testing.blobs import blobs
from audioclass.training.assemble import assemble
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import train_dichotomies
from audioclass.training.examples import Examples
from audioclass.training.train import plan_of, train_classifier

MANAGER = plugin_manager(installed=False)
RUN = Run(MANAGER)
OUR_GAMMA, OUR_CS = 0.6, (10.0, 30.0, 100.0)
GAMMA, C = 0.5, 10.0  # of scikit-learn's machines
TABLE = Path(__file__).with_name("strategies.md")
HEADS = (
    "corpus",
    "strategy",
    "accuracy",
    "logloss",
    "ece",
    "logloss_off",
    "ece_off",
    "ece_chance",
    "train_seconds",
    "predict_seconds",
    "machines",
    "support_vectors",
)

CORPORA = ("esc10", "fsdd", "fsdd60", "esc40")
RATIO = "coupling_over_libsvm"

FLAT = {
    "one_vs_rest": ("one_vs_rest", {}),
    "one_vs_rest_temperature": ("one_vs_rest_temperature", {}),
    **{f"one_vs_one {way}": ("one_vs_one", {"coupling": way}) for way in (
        "wu_lin_weng", "hastie_tibshirani", "price", "product", "star_mean")},
    "one_vs_one_vote": ("one_vs_one_vote", {}),
    "dag": ("dag", {}),
    "pairs_and_rest": ("pairs_and_rest", {}),
    "output_code dense": ("output_code", {}),
    "output_code dense l1": ("output_code", {"decoding": "l1"}),
    "output_code dense hinge": ("output_code", {"decoding": "hinge"}),
    "output_code sparse": ("output_code", {"code": "sparse"}),
    "output_code exhaustive": ("output_code", {"code": "exhaustive"}),
    "nested_dichotomies": ("nested_dichotomies", {}),
}  # fmt: skip
TREES = {
    "hybrid_dendrogram": {},
    **{f"hybrid_dendrogram {merge}": {"merge": merge} for merge in ("height", "separability", "none")},
    **{f"hybrid_dendrogram {tree}": {"tree": tree} for tree in ("ward", "half", "greedy")},
    "hybrid_dendrogram cuts 3 5 20": {"cuts": (3, 5, 20)},
    "hybrid_dendrogram weighted": {"form": "weighted"},
    "hybrid_dendrogram weighted softmax": {"form": "weighted", "wide": "softmax"},
    "hybrid_dendrogram weighted height": {"form": "weighted", "merge": "height", "absorb": 0.95},
    "hybrid_dendrogram weighted none": {"form": "weighted", "merge": "none"},
}
GIVEN = {
    "hybrid_dendrogram taxonomy": {"tree": "taxonomy"},
    "hybrid_dendrogram taxonomy, learnt below": {"tree": "taxonomy", "below": "average"},
}


@dataclass(frozen=True)
class Corpus:
    """Features with the label, fold and group of each row."""

    name: str
    X: np.ndarray
    labels: np.ndarray
    folds: np.ndarray
    groups: np.ndarray
    taxonomies: dict[str, Taxonomy] = field(default_factory=dict)


@dataclass(frozen=True)
class Split:
    """Prepared training and test rows of a fold."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    new: np.ndarray
    new_y: np.ndarray
    names: tuple[str, ...]


@dataclass
class Line:
    """What a strategy answered over the folds so far."""

    posteriors: list[np.ndarray] = field(default_factory=list)
    uncalibrated: list[np.ndarray] = field(default_factory=list)
    decided: list[np.ndarray] = field(default_factory=list)
    truth: list[np.ndarray] = field(default_factory=list)
    train_seconds: float = 0.0
    predict_seconds: float = 0.0
    machines: list[int] = field(default_factory=list)
    support: list[int] = field(default_factory=list)
    has_posteriors: bool = True

    def row(self, corpus: str, strategy: str) -> dict:
        truth, decided = np.concatenate(self.truth), np.concatenate(self.decided)
        after, before, chance = (None, None), (None, None), None
        if self.has_posteriors:
            after, before = (judged(np.concatenate(P), truth) for P in (self.posteriors, self.uncalibrated))
            chance = chance_ece(np.concatenate(self.posteriors))
        values = (
            corpus, strategy, float(np.mean(decided == truth)), *after, *before, chance, self.train_seconds,
            self.predict_seconds, float(np.mean(self.machines)), float(np.mean(self.support)),
        )  # fmt: skip
        return dict(zip(HEADS, values, strict=True))


def judged(P: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Log-loss and ECE."""
    return log_loss(P, truth), Binning.of(P.max(axis=1), P.argmax(axis=1) == truth).reliability().error


def chance_ece(P: np.ndarray, n_draws: int = 200) -> float:
    """The mean ECE of posteriors that are exactly right, from outcomes drawn from them."""
    rng, largest = np.random.default_rng(0), P.max(axis=1)
    draws = (Binning.of(largest, rng.random(len(P)) < largest) for _ in range(n_draws))
    return float(np.mean([draw.reliability().error for draw in draws]))


# --- corpora


def corpora(data: Path, recipe, asked: Sequence[str], quick: bool) -> Iterator[Corpus]:
    for name, fold_column in (("esc10", "fold"), ("fsdd", "group"), ("esc40", "fold")):
        if not any(corpus.startswith(name) for corpus in asked):
            continue
        folder = data / "audio" / name
        with (folder / "segments.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))[:: 7 if quick and name == "fsdd" else 1]
        bench.note(f"{name}: {len(rows)} recordings")
        X = features_of([folder / row["file"] for row in rows], recipe)
        labels, folds, groups = (np.array([row[key] for row in rows]) for key in ("label", fold_column, "group"))
        if name in asked:
            yield Corpus(name, X, labels, folds, groups)
        if name == "fsdd" and "fsdd60" in asked:
            index = np.array([int(re.search(r"_(\d+)\.", row["file"])[1]) for row in rows])
            both = np.array([f"{row['label']} {row['group']}" for row in rows])
            yield Corpus("fsdd60", X, both, index % 5, index, taxonomies_of(np.unique(both)))


def taxonomies_of(labels: np.ndarray) -> dict[str, Taxonomy]:
    """Labels of two words grouped by the first, by the second, and by both at once."""
    words = np.array([label.split() for label in labels])
    groups = [
        {word: labels[words[:, place] == word].tolist() for word in np.unique(words[:, place])} for place in (0, 1)
    ]
    together = {"digits": groups[0], "speakers": groups[1]}
    given = {"digits": groups[0], "speakers": groups[1], "digits and speakers": together}
    return {name: Taxonomy.of(nested) for name, nested in given.items()}


def splits(corpus: Corpus, recipe, quick: bool) -> Iterator[Split]:
    names, y = np.unique(corpus.labels, return_inverse=True)
    for fold in np.unique(corpus.folds)[: 1 if quick else None]:
        test = corpus.folds == fold
        if shared := set(corpus.groups[test]) & set(corpus.groups[~test]):
            raise ValueError(f"{corpus.name}: groups {sorted(shared)[:3]} stand in fold {fold} and in others")
        preprocessing = Preprocessing.fit(corpus.X[~test], recipe.groups)
        train, new = preprocessing.apply(corpus.X[~test]), preprocessing.apply(corpus.X[test])
        yield Split(train, y[~test], corpus.groups[~test], new, y[test], tuple(map(str, names)))


# --- ours


def kernel_of(gamma: float) -> UnscaledGaussian:
    return UnscaledGaussian(sigma=(1 / (2 * gamma)) ** 0.5)


def configured(strategy, C: float) -> TrainingConfig:
    """Least-squares machines of one kernel and C under a strategy."""
    return TrainingConfig(
        strategy=strategy,
        kernels=(kernel_of(OUR_GAMMA),),
        trainer=MANAGER.make("trainer", "least_squares"),
        calibrator=MANAGER.make("calibrator", "platt"),
        C=C,
    )


def choose_error_factor(examples: Examples, names: tuple[str, ...]) -> float:
    """The C of the lowest leave-group-out log-loss of one-vs-rest with a temperature."""
    strategy = MANAGER.make("strategy", "one_vs_rest_temperature")
    held_out = {c: train_classifier(examples, names, configured(strategy, c), RUN).held_out for c in OUR_CS}
    return min(OUR_CS, key=lambda c: log_loss(held_out[c], examples.y))


def ours(corpus: Corpus, quick: bool) -> dict[str, tuple]:
    """Name of a line → strategy and taxonomy."""
    many = len(np.unique(corpus.labels)) > 11
    lines = {name: (MANAGER.make("strategy", *made), None) for name, made in FLAT.items()}
    lines |= {name: (MANAGER.make("strategy", "hybrid_dendrogram", made), None) for name, made in TREES.items()}
    for given, taxonomy in corpus.taxonomies.items():
        for name, made in GIVEN.items():
            lines[f"{name}: {given}"] = (MANAGER.make("strategy", "hybrid_dendrogram", made), taxonomy)
    left_out = {"output_code exhaustive"} if many else set()
    left_out |= {name for name in lines if many and quick and re.match("one_vs_one|dag|pairs|output_code", name)}
    return {name: line for name, line in lines.items() if name not in left_out}


class Workshop:
    """The examples of a fold with one kernel and C for all strategies; the same dichotomies are trained once."""

    def __init__(self, split: Split) -> None:
        self.names, self.examples = split.names, Examples.of(split.X, split.y, groups=split.groups)
        self.error_factor = choose_error_factor(self.examples, split.names)
        self.known: dict[tuple, tuple] = {}

    def classifier(self, strategy, taxonomy: Taxonomy | None) -> tuple[Classifier, float]:
        """A trained classifier, and the seconds it would have taken by itself."""
        config = configured(strategy, self.error_factor)
        start = time.process_time()
        plan = plan_of(self.examples, self.names, config, RUN, taxonomy)
        planning = time.process_time() - start
        trained, training = self._trained(plan, config)
        start = time.process_time()
        classifier = assemble(self.examples, self.names, config, plan, trained).classifier
        return classifier, planning + training + time.process_time() - start

    def _trained(self, plan: Plan, config: TrainingConfig) -> tuple[list, float]:
        if plan.dichotomies not in self.known:
            start, n = time.process_time(), len(plan.dichotomies)
            choices = [config.kernels[0]] * n, [config.C] * n
            trained = train_dichotomies(plan.dichotomies, self.examples, *choices, config, RUN, everywhere=True)
            self.known[plan.dichotomies] = trained, time.process_time() - start
        return self.known[plan.dichotomies]


def run_ours(split: Split, strategies: dict[str, tuple], lines: dict[str, Line]) -> None:
    workshop = Workshop(split)
    for name, (strategy, taxonomy) in strategies.items():
        classifier, seconds = workshop.classifier(strategy, taxonomy)
        line = lines.setdefault(name, Line())
        line.train_seconds += seconds
        start = time.process_time()
        P, step = classifier.strategy_posteriors(classifier.scores(split.new)), classifier.posterior_calibration
        line.posteriors.append(P if step is None else step.apply(P))
        line.predict_seconds += time.process_time() - start
        line.uncalibrated.append(P)
        line.decided.append(line.posteriors[-1].argmax(axis=1))
        line.truth.append(split.new_y)
        line.machines.append(classifier.n_machines)
        line.support.append(classifier.n_support)
        bench.note(f"  {name}: {np.mean(line.decided[-1] == split.new_y):.3f}")


# --- scikit-learn's


def theirs() -> dict[str, object]:
    svc = SVC(kernel="precomputed", C=C)
    return {
        "scikit-learn SVC": SVC(kernel="precomputed", C=C, probability=True, random_state=0),
        "scikit-learn one-vs-one": OneVsOneClassifier(svc),
        "scikit-learn one-vs-rest": OneVsRestClassifier(svc),
        "scikit-learn output code": OutputCodeClassifier(svc, random_state=0),
        "scikit-learn random forest": RandomForestClassifier(200, random_state=0),
    }


def run_theirs(split: Split, lines: dict[str, Line]) -> None:
    kernel = kernel_of(GAMMA)
    statistics = Examples.of(
        np.concatenate([split.X, split.new]), np.zeros(len(split.X) + len(split.new), int)
    ).statistics
    train, new = np.arange(len(split.X)), np.arange(len(split.X), len(statistics))
    K, K_new = statistics.gram(kernel, train), statistics.gram(kernel, new, train)
    for name, model in theirs().items():
        known, asked = (split.X, split.new) if "forest" in name else (K, K_new)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            model.fit(known, split.y)
        seconds = time.process_time() - start
        line = lines.setdefault(name, Line(has_posteriors="SVC" in name or "forest" in name))
        line.train_seconds += seconds
        start = time.process_time()
        line.posteriors.append(model.predict_proba(asked) if line.has_posteriors else np.empty(0))
        line.uncalibrated.append(line.posteriors[-1])
        line.decided.append(model.predict(asked))
        line.predict_seconds += time.process_time() - start
        line.truth.append(split.new_y)
        line.machines.append(machines_of(model, len(split.names)))
        line.support.append(support_of(model, len(split.X)))
        bench.note(f"  {name}: {np.mean(line.decided[-1] == split.new_y):.3f}")


def machines_of(model, n_labels: int) -> int:
    return n_labels * (n_labels - 1) // 2 if isinstance(model, SVC) else len(model.estimators_)


def support_of(model, n_rows: int) -> int:
    """Training rows that are needed to predict: of all machines together."""
    if isinstance(model, SVC):
        return len(model.support_)
    return 0 if isinstance(model, RandomForestClassifier) else n_rows


# --- coupling


def coupling_over_libsvm(quick: bool) -> float:
    """The pairs that LIBSVM couples itself, of rows in a plane so that the kernel costs it next to nothing."""
    X, y = blobs(10, 30, spread=0.8)
    new = np.random.default_rng(0).uniform(-3, 3, (10_000 if quick else 100_000, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = SVC(gamma=1.0, C=C, probability=True, decision_function_shape="ovo", random_state=0).fit(X, y)
        pairs = 1 / (1 + np.exp(model.decision_function(new) * model.probA_ + model.probB_))
    taken = bench.interleaved(
        3,
        coupling=lambda: couple_hastie_tibshirani(pair_matrix(pairs, 10), tolerance=1e-6),
        libsvm=lambda: model.predict_proba(new),
    )
    return bench.median_ratio(taken["coupling"], taken["libsvm"])


# --- the table


def shown(row: dict) -> list[str]:
    digits = {
        "accuracy": 3,
        "logloss": 4,
        "ece": 3,
        "logloss_off": 4,
        "ece_off": 3,
        "ece_chance": 3,
        "train_seconds": 1,
        "predict_seconds": 2,
        "machines": 0,
        "support_vectors": 0,
    }
    return [
        f"{row[k]:.{digits[k]}f}" if isinstance(row[k], float) else ("" if row[k] is None else row[k]) for k in HEADS
    ]


def is_other_form(row: dict) -> bool:
    """Whether a row is the hybrid dendrogram in another than its default form."""
    return row["strategy"].startswith("hybrid_dendrogram ")


def table_lines(rows: list[dict]) -> list[str]:
    return [
        "| " + " | ".join(HEADS) + " |",
        "|" + " --- |" * len(HEADS),
        *("| " + " | ".join(shown(row)) + " |" for row in rows),
        "",
    ]


def write_table(rows: list[dict], ratio: float | None) -> None:
    """Both tables, of all corpora that were measured."""
    lines = [" ".join(__doc__.split("Keys:")[0].split()), ""]
    lines += table_lines([row for row in rows if not is_other_form(row)])
    if ratio is not None:
        lines += [
            f"Coupling 100 000 rows of 10 labels to 1e-6 takes {ratio:.2f} of LIBSVM's `predict_proba` for them.",
            "",
        ]
    lines += ["The hybrid dendrogram in other forms than its default:", ""]
    lines += table_lines([row for row in rows if is_other_form(row)])
    TABLE.write_text("\n".join(lines), encoding="utf-8")


def merged(folder: Path | None, results: dict) -> dict:
    """With what runs of other corpora left in the folder; this run leaves a file for each corpus there."""
    if folder is None:
        return results
    folder.mkdir(parents=True, exist_ok=True)
    for corpus in {row["corpus"] for row in results["rows"]}:
        rows = [row for row in results["rows"] if row["corpus"] == corpus]
        (folder / f"{corpus}.json").write_text(json.dumps(rows), encoding="utf-8")
    if results[RATIO] is not None:
        (folder / f"{RATIO}.json").write_text(json.dumps(results[RATIO]), encoding="utf-8")
    files = {name: folder / f"{name}.json" for name in (*CORPORA, RATIO)}
    measured = {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.is_file()}
    return {"rows": [row for name in CORPORA for row in measured.get(name, [])], RATIO: measured.get(RATIO)}


def main() -> None:
    asked = bench.options(
        __doc__.splitlines()[0], write=f"write the table to {TABLE.name}", parts=(*CORPORA, "coupling")
    )
    recipe, rows, ratio = load_recipe("environment22", plugin_manager()), [], None
    wanted = asked.corpus or [*CORPORA, "coupling"]
    if "coupling" in wanted:
        ratio = coupling_over_libsvm(asked.quick)
        bench.note(f"coupling takes {ratio:.2f} of LIBSVM's predict_proba")
    for corpus in corpora(asked.data, recipe, wanted, asked.quick):
        strategies, lines = ours(corpus, asked.quick), {}
        for number, split in enumerate(splits(corpus, recipe, asked.quick), start=1):
            bench.note(f"{corpus.name}, fold {number}")
            run_ours(split, strategies, lines)
            run_theirs(split, lines)
        rows += [line.row(corpus.name, name) for name, line in lines.items()]
    results = merged(asked.rows, {"rows": rows, RATIO: ratio})
    if asked.write:
        write_table(results["rows"], results[RATIO])
    bench.report(results, [HEADS, *map(shown, results["rows"])], asked.json)


if __name__ == "__main__":
    main()
