"""RIL-Co's classifiers as a judge, from start to end, of drivers of whom five in six give little throttle."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from tests.drivers import HOW_SHORT, OPTIONS, STEPS, STRETCH, contents, write_files
from tests.stops import StopsWhen

from rilco.config import RunConfig
from rilco.data.formats import load_file, save_demonstrations
from rilco.errors import AuditError, ConfigError, RunError
from rilco.judging import classifiers
from rilco.judging.audit import audit_run
from rilco.judging.audit_config import AuditConfig
from rilco.judging.classifiers import CrossFitted, Scores, score_by
from rilco.judging.simulator import Classified, classify_run, train_and_classify, training_steps
from rilco.judging.verdict import auroc
from rilco.judging.windows import group
from rilco.methods import make_reward_learner
from rilco.normalizer import init_normalizer, normalize
from rilco.options import make_config
from rilco.rewards.classifier import score
from rilco.rewards.learner import DemoArrays
from rilco.rewards.ril import split
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.runs.progress import Progress
from rilco.training import go_on, train_run

HOW = How(1, quiet=True)
STRETCHES, FORMING = HOW_SHORT.stretches, HOW_SHORT.forming


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_files(tmp_path_factory.mktemp("drivers"))


@pytest.fixture(scope="module")
def config(files: list[str]) -> RunConfig:
    return make_config({**OPTIONS, "demos": files})


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audits") / "audit"


@pytest.fixture(scope="module")
def audited(config: RunConfig, out: Path) -> Classified:
    return train_and_classify(config, out, HOW_SHORT, how=HOW)


@pytest.fixture(scope="module")
def run(audited: Classified, out: Path) -> Run:
    """The training that the audit went on from."""
    return Run(out / "seed-1")


def scored(
    run: Run,
    rules: AuditConfig,
    why_go_on: Callable[[Scores, int], str | None],
    progress: Any = None,
) -> Scores:
    with go_on(run, HOW) as trainer:
        silent = Progress(run.config, run.path, quiet=True)
        return score_by(trainer, rules, why_go_on, progress=progress or silent)


def of_demonstrations(one: Classified) -> np.ndarray:
    """[D] whether they are the expert's."""
    return group(one.demos).means(one.demos.expert.astype(float)) > 0.5


def same(one: Classified, other: Classified) -> bool:
    return np.array_equal(one.scores.stretches, other.scores.stretches) and np.array_equal(
        one.opinion.good, other.opinion.good
    )


# --- what it finds


@pytest.mark.slow
def test_it_finds_the_worse_drivers(audited: Classified) -> None:
    expert = of_demonstrations(audited)
    assert auroc(audited.opinion.score, expert) == 1.0
    np.testing.assert_array_equal(audited.ruling.kept, expert)
    assert audited.opinion.standing > 0.9
    np.testing.assert_array_equal(audited.keep, audited.demos.expert)


@pytest.mark.slow
def test_scoring_is_part_of_the_steps(audited: Classified, run: Run, config: RunConfig) -> None:
    assert run.config.steps == STEPS - STRETCHES * STRETCH
    assert audited.scores.transitions == STEPS
    assert audited.scores.stretches.shape == (STRETCHES, len(audited.demos))
    with pytest.raises(ConfigError, match=f"--steps 12,000: too few.*{6 * STRETCH:,}"):
        train_and_classify(dataclasses.replace(config, steps=12_000), run.path / "new", HOW_SHORT)
    assert not (run.path / "new").exists()


@pytest.mark.parametrize("num_envs", [1, 16, 100, 1000])
def test_scoring_fits_into_the_steps_whatever_the_size_of_an_iteration(
    config: RunConfig, num_envs: int
) -> None:
    sized = dataclasses.replace(config, num_envs=num_envs, num_steps=20, steps=1_000_000)
    how = AuditConfig()
    used = how.stretches * classifiers.stretch_iterations(sized, how) * sized.transitions_per_iteration
    assert training_steps(sized, how) + used <= sized.steps


@pytest.mark.slow
def test_the_labels_make_no_difference(audited: Classified, config: RunConfig, tmp_path: Path) -> None:
    """The same opinion to the bit of demonstrations whose labels are all wrong."""
    flipped = []
    for file in map(Path, config.demos):
        demos = load_file(file)
        flipped.append(str(tmp_path / file.name))
        save_demonstrations(dataclasses.replace(demos, expert=~demos.expert), flipped[-1])
    changed = dataclasses.replace(config, demos=tuple(flipped))
    again = train_and_classify(changed, tmp_path / "audit", HOW_SHORT, how=HOW)
    assert same(again, audited)
    assert (again.demos.expert != audited.demos.expert).all()


# --- a run


@pytest.mark.slow
def test_an_audit_of_a_run_changes_nothing_in_its_folder_and_repeats(audited: Classified, run: Run) -> None:
    before = contents(run.path)
    again = classify_run(run, HOW_SHORT, how=HOW)
    assert contents(run.path) == before
    assert same(again, audited)


@pytest.mark.slow
def test_pieces_are_judged_alone(run: Run) -> None:
    """Pieces of 20 of an episode's 60 pairs; the first of each is the driver getting going."""
    pieces = classify_run(run, HOW_SHORT, pieces=20, how=HOW)
    assert group(pieces.demos).pairs.tolist() == [20] * (3 * 35)
    assert auroc(pieces.opinion.score, of_demonstrations(pieces)) > 0.97


@pytest.mark.slow
def test_several_seeds_are_averaged(
    audited: Classified, config: RunConfig, out: Path, tmp_path: Path
) -> None:
    shutil.copytree(out / "seed-1", tmp_path / "seed-1")
    before = contents(tmp_path / "seed-1")
    both = train_and_classify(config, tmp_path, HOW_SHORT, seeds=2, how=HOW)
    assert contents(tmp_path / "seed-1") == before, "what is trained already is left alone"
    assert (tmp_path / "seed-2").is_dir()
    further = both.scores.transitions - 2 * STEPS  # the second may wait for an even expert
    assert further in [n * STRETCH for n in range(HOW_SHORT.patience - STRETCHES + 1)]
    assert len(both.scores.stretches) == 2 * STRETCHES
    np.testing.assert_array_equal(both.scores.stretches[:STRETCHES], audited.scores.stretches)
    assert auroc(both.opinion.score, of_demonstrations(both)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("when", [12, 33], ids=["training", "scoring"])
def test_what_was_interrupted_goes_on_to_the_same_end(
    audited: Classified, config: RunConfig, tmp_path: Path, when: int
) -> None:
    how = dataclasses.replace(HOW, stop=StopsWhen(looks=when))
    with pytest.raises(KeyboardInterrupt):
        train_and_classify(config, tmp_path / "audit", HOW_SHORT, how=how)
    assert same(train_and_classify(config, tmp_path / "audit", HOW_SHORT, how=HOW), audited)


@pytest.mark.slow
def test_training_killed_before_its_last_checkpoint_is_not_taken_for_finished(
    audited: Classified, config: RunConfig, out: Path, tmp_path: Path
) -> None:
    """The last line of the metrics comes a moment before the checkpoint that the audit goes on from."""
    shutil.copytree(out, tmp_path / "audit")
    for file in (tmp_path / "audit" / "seed-1" / "checkpoints").iterdir():
        file.unlink()
    assert same(train_and_classify(config, tmp_path / "audit", HOW_SHORT, how=HOW), audited)


@pytest.mark.slow
def test_another_configuration_is_not_mixed_in(audited: Classified, config: RunConfig, out: Path) -> None:
    other = dataclasses.replace(config, classifier=dataclasses.replace(config.classifier, lam=0.3))
    with pytest.raises(RunError, match=r"lam=0\.3"):
        train_and_classify(other, out, HOW_SHORT, how=HOW)


# --- how long it goes on


@pytest.mark.slow
def test_it_goes_on_until_it_is_enough(run: Run, audited: Classified) -> None:
    seen: list[Scores] = []

    def enough(found: Scores, stretches: int) -> str | None:
        seen.append(found)
        assert stretches == len(seen) + 1
        return None if len(seen) == 2 else "it is not enough"

    said: list[str] = []
    progress = SimpleNamespace(update=lambda record: None, note=said.append)
    found = scored(run, HOW_SHORT, enough, progress)
    assert said == ["Training goes on for another stretch: it is not enough."]
    assert len(seen) == 2
    assert found.transitions == run.config.steps + 3 * STRETCH
    np.testing.assert_array_equal(seen[0].stretches, audited.scores.stretches)
    np.testing.assert_array_equal(found.stretches[0], seen[0].stretches[1], "the newest two")


@pytest.mark.slow
def test_a_short_run_is_trained_until_something_can_be_said(config: RunConfig, tmp_path: Path) -> None:
    short = dataclasses.replace(config, steps=STRETCH, evaluate_every=-1)
    run = train_run(short, tmp_path / "short", how=HOW)
    once = dataclasses.replace(HOW_SHORT, stretches=1)
    found = scored(run, once, lambda *_: None)
    assert found.transitions == (FORMING + 1) * STRETCH


@pytest.mark.slow
def test_it_gives_up_in_the_end(run: Run) -> None:
    twice = dataclasses.replace(HOW_SHORT, stretches=1, most_stretches=2)
    found = scored(run, twice, lambda *_: "never")
    assert found.stretches.shape[0] == 1
    assert found.transitions == run.config.steps + 2 * STRETCH


# --- cross-fitting


@pytest.mark.slow
def test_no_classifier_ever_scores_a_pair_that_it_learned_from(
    run: Run, audited: Classified, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The halves by which an audit scores are those that training draws from."""
    halves: list[np.ndarray] = []
    init = CrossFitted.__init__

    def spy(self: CrossFitted, demos: DemoArrays, given: Sequence[np.ndarray]) -> None:
        halves.extend(given)
        init(self, demos, given)

    monkeypatch.setattr(CrossFitted, "__init__", spy)
    scored(run, dataclasses.replace(HOW_SHORT, stretches=1), lambda *_: None)
    count = len(audited.demos)
    numbered = np.arange(count, dtype=np.float32)[:, None]
    learner = make_reward_learner(run.config)
    for iteration in range(3):
        draws = learner.sample(DemoArrays(numbered, numbered), np.random.default_rng(iteration))
        for i in (0, 1):
            assert set(np.asarray(draws.obs[:, i]).ravel().astype(int)) <= set(halves[i].tolist())
    assert set(halves[0].tolist()).isdisjoint(halves[1].tolist())


@pytest.mark.parametrize("chunk", [classifiers.CHUNK, 100, 7])
def test_each_half_is_scored_by_the_classifier_of_the_other(
    config: RunConfig, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifiers, "CHUNK", chunk)
    rng = np.random.default_rng(0)
    mean, var = np.float32([1.0, -1.0]), np.float32([4.0, 0.25])
    state = SimpleNamespace(  # all that scoring looks at
        reward=jax.jit(make_reward_learner(config).init, static_argnums=(1, 2))(jax.random.key(0), 2, 2),
        normalizer=init_normalizer(2)._replace(mean=mean, var=var),
    )
    demos = DemoArrays(*(rng.normal(size=(205, 2)).astype(np.float32) for _ in range(2)))
    halves = split(205, 2, seed=3)
    found = CrossFitted(demos, halves)(state)
    for i in (0, 1):
        other = jax.tree.map(lambda stacked, i=i: stacked[1 - i], state.reward.params)
        normalized = normalize(state.normalizer, demos.obs[halves[i]])
        expected = score(other, normalized, demos.action[halves[i]])
        np.testing.assert_allclose(found[halves[i]], expected, rtol=1e-4, atol=1e-5)


# --- what cannot be audited


def test_one_classifier_cannot_judge(config: RunConfig, tmp_path: Path) -> None:
    gail = dataclasses.replace(config, method="gail-ap", demos=("not-there.npz",))
    (tmp_path / "config.json").write_text(gail.to_json())
    with pytest.raises(AuditError, match=r"gail-ap.*--method ril-co"):
        audit_run(Run(tmp_path))


def test_a_run_in_phases_is_audited_already(config: RunConfig, tmp_path: Path) -> None:
    clean = dataclasses.replace(config, method="ril-co-clean")
    (tmp_path / "config.json").write_text(clean.to_json())
    with pytest.raises(AuditError, match="1-ril-co"):
        audit_run(Run(tmp_path))


@pytest.mark.slow
def test_a_folder_without_checkpoints_is_refused(run: Run, tmp_path: Path) -> None:
    shutil.copytree(run.path, tmp_path / "run", ignore=shutil.ignore_patterns("checkpoints"))
    with pytest.raises(RunError, match="no checkpoint"):
        classify_run(Run(tmp_path / "run"), HOW_SHORT, how=HOW)
    (tmp_path / "run" / "checkpoints").mkdir()
    with pytest.raises(RunError, match="did training not begin"):
        classify_run(Run(tmp_path / "run"), HOW_SHORT, how=HOW)
    with pytest.raises(RunError, match="not a run folder"):
        classify_run(Run(tmp_path / "nothing"), HOW_SHORT, how=HOW)


@pytest.mark.slow
def test_other_demonstrations_than_the_run_had_are_refused(
    run: Run, files: list[str], config: RunConfig, tmp_path: Path
) -> None:
    shutil.copytree(run.path, tmp_path / "run")
    changed = dataclasses.replace(run.config, demos=tuple(files[:-1]))
    (tmp_path / "run" / "config.json").write_text(changed.to_json())
    with pytest.raises(RunError, match=r"config\.json: was changed after the run began.*demos"):
        classify_run(Run(tmp_path / "run"), HOW_SHORT, how=HOW)
