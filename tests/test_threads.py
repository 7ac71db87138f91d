"""The limit on threads, in threads and processes: nobody computes without it, and it is gone when nobody computes."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from audioclass.threads import one_thread

TESTS = Path(__file__).parent


def counts():
    """Threads of each library, as this thread sees them."""
    return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}


def blas_counts():
    """Those of BLAS, which are the same for every thread; OpenMP has its own for each."""
    return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    """BLAS with two threads, on one core too."""
    assert np.dot(np.ones(3), np.ones(3)) == 3  # its library is loaded
    with threadpool_limits(2):
        yield counts()


def test_within_it_there_is_one_thread_and_after_it_as_many_as_before(two_threads):
    with one_thread():
        assert set(counts().values()) == {1}
    assert counts() == two_threads


def test_it_decorates_and_nests(two_threads):
    @one_thread()
    def inside():
        with one_thread():
            pass
        return counts()

    assert set(inside().values()) == {1}
    assert counts() == two_threads


def test_an_error_lifts_it(two_threads):
    with pytest.raises(ValueError, match="broken"), one_thread():
        raise ValueError("broken")
    assert counts() == two_threads


def test_who_leaves_first_does_not_lift_the_limit_of_the_others(two_threads):
    is_inside, may_leave, seen = threading.Event(), threading.Event(), []

    def stay():
        with one_thread():
            is_inside.set()
            may_leave.wait()
            seen.append(counts())

    thread = threading.Thread(target=stay)
    with one_thread():
        thread.start()
        is_inside.wait()
    may_leave.set()
    thread.join()
    assert set(seen[0].values()) == {1}
    assert counts() == two_threads


def test_a_library_that_comes_while_somebody_is_inside_is_limited_too(two_threads, monkeypatch):
    with one_thread():
        name = next(iter(two_threads))
        with threadpool_limits(2):
            monkeypatch.setitem(sys.modules, "imported_just_now", None)
            with one_thread():
                assert counts()[name] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_holds_what_its_own_thread_held(two_threads):
    codes, before = [], blas_counts()
    with one_thread():
        thread = threading.Thread(target=lambda: codes.append(exit_code_of_child(lambda: blas_counts() == before)))
        thread.start()
        thread.join()
        codes.append(exit_code_of_child(lambda: set(counts().values()) == {1}))
    assert codes == [0, 0]


def exit_code_of_child(is_right):
    """0 where it is right in a process forked from this thread."""
    child = os.fork()
    if child == 0:
        os._exit(0 if is_right() else 1)
    return os.waitpid(child, 0)[1]


def lines_of(script, threads=2):
    """What a script prints in a process whose libraries have so many threads."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=TESTS)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_eight_threads_get_the_same_posteriors_to_the_bit():
    script = """
        import io
        from concurrent.futures import ThreadPoolExecutor
        import soundfile
        from threadpoolctl import ThreadpoolController
        import audioclass
        from audioclass.classifier.model import Model
        from audioclass.engine.runs import make_run
        from trained import RATE, mixture

        blas, unlimited = ThreadpoolController().select(user_api="blas"), []
        posteriors = Model._posteriors
        def watched(model, X):
            unlimited.extend(one for one in blas.lib_controllers if one.num_threads != 1)
            return posteriors(model, X)
        Model._posteriors = watched
        model, run, recording = audioclass.load_model("golden/small.audioclass"), make_run(), io.BytesIO()
        soundfile.write(recording, mixture(seconds=0.4), RATE, format="WAV")
        def classify(_):
            result = audioclass.classify(io.BytesIO(recording.getvalue()), model, windows=True, run=run)
            return result.P.tobytes()
        alone = classify(0)
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(classify, range(8 * 200)))
        print(sum(P != alone for P in together), len(unlimited))
    """
    assert lines_of(script) == ["0 0"]


def test_features_are_the_same_bytes_for_any_number_of_threads_and_jobs():
    script = """
        import hashlib
        from audioclass.run import executor_for

        def digest(name):
            from audioclass.data import Block
            from audioclass.extraction import extract
            from runs import recipe
            from signals import noise

            extract.DECIMALS = 9  # every digit counts
            wanted = recipe(name).fixed
            rate = wanted.framing.sample_rate
            chunks = extract.extract_features([Block(noise(12.0, rate)[:, None], rate)], wanted)
            return hashlib.sha256(b"".join(chunk.X.tobytes() for chunk in chunks)).hexdigest()

        for jobs in (1, 2):
            print(list(executor_for(jobs).map(digest, ["broadcast", "environment22", "environment"])))
    """
    assert len(set(lines_of(script, 1) + lines_of(script, 2))) == 1


def test_an_estimator_answers_alike_in_threads():
    script = """
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np
        from threadpoolctl import ThreadpoolController
        from audioclass import AudioclassClassifier
        from audioclass.classifier.bank import Bank

        blas, unlimited = ThreadpoolController().select(user_api="blas"), []
        scores = Bank.scores
        def watched(bank, X):
            unlimited.extend(one for one in blas.lib_controllers if one.num_threads != 1)
            return scores(bank, X)
        Bank.scores = watched
        X, y = np.random.default_rng(0).normal(size=(60, 40)), np.arange(60) % 3
        estimator = AudioclassClassifier(criterion="fixed").fit(X + y[:, None], y)
        with ThreadPoolExecutor(8) as pool:
            answers = {P.tobytes() for P in pool.map(estimator.predict_proba, [X] * 200)}
        print(len(answers), len(unlimited))
    """
    assert lines_of(script) == ["1 0"]
