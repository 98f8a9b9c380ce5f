"""Audits from start to end, of drivers of whom five in six give little throttle."""

from __future__ import annotations

import csv
import dataclasses
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.drivers import (
    EPISODE,
    OPTIONS,
    STEPS,
    STRETCH,
    StopsWhen,
    contents,
    demonstrate,
    short_stretches,
    write_files,
)

from rilco.cli import cli
from rilco.config import RunConfig
from rilco.data.formats import load_file, save_file
from rilco.data.record import Demonstrations, concatenate
from rilco.errors import ConfigError, RilcoError, RunError
from rilco.judging import scores, scoring
from rilco.judging.auditing import (
    STRETCHES,
    Audited,
    audit_run,
    in_pieces,
    train_and_audit,
    training_steps,
    write_audit,
)
from rilco.judging.checks import AuditError
from rilco.judging.judging import PATIENCE
from rilco.judging.record import Audit
from rilco.judging.scores import Average, CrossFitted
from rilco.judging.scoring import FORMING, Scores, score
from rilco.judging.truth import compare
from rilco.methods import make_reward_learner
from rilco.normalizer import init_normalizer, normalize
from rilco.options import make_config
from rilco.rewards.classifier import score as classifier_score
from rilco.rewards.learner import DemoArrays
from rilco.rewards.ril import split
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.training import go_on, train_run

__all__ = ["short_stretches"]
pytestmark = pytest.mark.usefixtures("short_stretches")

HOW = How(workers=1, quiet=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[str]:
    return write_files(tmp_path_factory.mktemp("drivers"))


@pytest.fixture(scope="module")
def config(files) -> RunConfig:
    return make_config({**OPTIONS, "demos": files})


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("audits") / "audit"


@pytest.fixture(scope="module")
def started() -> list[str]:
    """Processes that `audited` started."""
    return []


@pytest.fixture(scope="module")
def audited(config, out, short_stretches, started) -> Audited:
    popen = subprocess.Popen

    def counted(command, **options):
        started.append(command)
        return popen(command, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", counted)
        return train_and_audit(config, out, how=HOW)


@pytest.fixture(scope="module")
def run(audited, out) -> Run:
    """The training that the audit went on from."""
    return Run(out / "seed-1")


def score_on(run: Run, enough: Callable[[Scores, int], bool], *, least: int, most: int) -> Scores:
    with go_on(run, HOW) as trainer:
        return score(trainer, enough, least=least, most=most)


# --- what it finds


@pytest.mark.slow
def test_it_finds_the_worse_drivers(audited):
    truth = compare(audited.pairs, audited.demos)
    assert truth.demonstration_auroc == 1.0
    assert truth.pair_auroc > 0.9
    assert (truth.expert_kept, truth.other_kept) == (1.0, 0.0)
    audit = audited.audit
    assert audit.verdict.kind == "mixed"
    assert [maker.verdict for maker in audit.demonstrators] == ["keep"] + ["drop"] * 5
    assert audit.noise_fraction.low - 0.01 <= 3 / 7 <= audit.noise_fraction.high + 0.01
    assert audited.kept.expert.all()
    assert not audited.dropped.expert.any()
    assert len(audited.kept) + len(audited.dropped) == len(audited.demos)


@pytest.mark.slow
def test_training_and_scoring_share_their_workers(audited, started):
    assert len(started) == HOW.workers


@pytest.mark.slow
def test_scoring_is_part_of_the_steps(audited, run, config):
    assert run.config.steps == STEPS - STRETCHES * STRETCH
    assert audited.audit.transitions == STEPS
    assert audited.scores.stretches.shape == (STRETCHES, len(audited.demos))
    with pytest.raises(ConfigError, match=f"--steps 12,000: too few.*{6 * STRETCH:,}"):
        train_and_audit(dataclasses.replace(config, steps=12_000), run.path / "new")
    assert not (run.path / "new").exists()


@pytest.mark.parametrize("num_envs", [1, 16, 100, 1000])
def test_scoring_fits_into_the_steps_whatever_the_size_of_an_iteration(config, num_envs, monkeypatch):
    monkeypatch.setattr(scoring, "STRETCH_TRANSITIONS", 32_000)
    sized = dataclasses.replace(config, num_envs=num_envs, num_steps=20, steps=1_000_000)
    used = STRETCHES * scoring.stretch_iterations(sized) * sized.transitions_per_iteration
    assert training_steps(sized) + used <= sized.steps


@pytest.mark.slow
def test_the_labels_make_no_difference(audited, config, tmp_path):
    """The same audit to the bit of demonstrations whose labels are all wrong."""
    flipped = []
    for file in map(Path, config.demos):
        demos = load_file(file)
        flipped.append(str(tmp_path / file.name))
        save_file(dataclasses.replace(demos, expert=~demos.expert), flipped[-1])
    again = train_and_audit(dataclasses.replace(config, demos=tuple(flipped)), tmp_path / "audit", how=HOW)
    np.testing.assert_array_equal(again.scores.stretches, audited.scores.stretches)
    assert again.audit.verdict == audited.audit.verdict
    truths = [[demo.truth for demo in one.audit.demonstrations] for one in (audited, again)]
    assert all(one != other for one, other in zip(*truths, strict=True))


# --- a run


@pytest.mark.slow
def test_an_audit_of_a_run_changes_nothing_in_its_folder_and_repeats(audited, run):
    before = contents(run.path)
    again = audit_run(run, how=HOW)
    assert contents(run.path) == before
    assert again.audit == audited.audit
    np.testing.assert_array_equal(again.pairs.score, audited.pairs.score)


@pytest.mark.slow
def test_pieces_are_judged_alone(run):
    """Pieces of 20 of an episode's 60 pairs; the first of each is the driver getting going."""
    pieces = audit_run(run, pieces=20, how=HOW)
    assert len(pieces.audit.demonstrations) == 3 * 35
    assert {demo.pairs for demo in pieces.audit.demonstrations} == {20}
    assert compare(pieces.pairs, pieces.demos).demonstration_auroc > 0.97


@pytest.mark.slow
def test_several_seeds_are_averaged(audited, config, out, tmp_path):
    shutil.copytree(out / "seed-1", tmp_path / "seed-1")
    before = contents(tmp_path / "seed-1")
    both = train_and_audit(config, tmp_path, seeds=2, how=HOW)
    assert contents(tmp_path / "seed-1") == before, "what is trained already is left alone"
    assert both.audit.seeds == (1, 2)
    further = both.audit.transitions - 2 * STEPS  # the second may wait for an even expert
    assert further in [n * STRETCH for n in range(PATIENCE - STRETCHES + 1)]
    assert len(both.scores.stretches) == 2 * STRETCHES
    np.testing.assert_array_equal(both.scores.stretches[:STRETCHES], audited.scores.stretches)
    assert compare(both.pairs, both.demos).demonstration_auroc == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("when", [12, 33], ids=["training", "scoring"])
def test_what_was_interrupted_goes_on_to_the_same_end(audited, config, tmp_path, when):
    how = dataclasses.replace(HOW, stop=StopsWhen(looks=when))
    with pytest.raises(KeyboardInterrupt):
        train_and_audit(config, tmp_path / "audit", how=how)
    assert train_and_audit(config, tmp_path / "audit", how=HOW).audit == audited.audit


@pytest.mark.slow
def test_training_killed_before_its_last_checkpoint_is_not_taken_for_finished(audited, config, out, tmp_path):
    """The last line of the metrics comes a moment before the checkpoint that the audit goes on from."""
    shutil.copytree(out, tmp_path / "audit")
    for file in (tmp_path / "audit" / "seed-1" / "checkpoints").iterdir():
        file.unlink()
    again = train_and_audit(config, tmp_path / "audit", how=HOW)
    assert again.audit == audited.audit


@pytest.mark.slow
def test_another_configuration_is_not_mixed_in(audited, config, out):
    other = dataclasses.replace(config, classifier=dataclasses.replace(config.classifier, lam=0.3))
    with pytest.raises(RunError, match=r"lam=0\.3"):
        train_and_audit(other, out, how=HOW)


# --- how long it goes on


@pytest.mark.slow
def test_it_goes_on_until_it_is_enough(run, audited):
    seen = []

    def enough(found, stretches):
        seen.append(found)
        assert stretches == len(seen) + 1
        return len(seen) == 2

    found = score_on(run, enough, least=2, most=5)
    assert len(seen) == 2
    assert found.transitions == run.config.steps + 3 * STRETCH
    np.testing.assert_array_equal(seen[0].stretches, audited.scores.stretches)
    np.testing.assert_array_equal(found.stretches[0], seen[0].stretches[1], "the newest two")


@pytest.mark.slow
def test_a_short_run_is_trained_until_something_can_be_said(audited, config, tmp_path):
    short = dataclasses.replace(config, steps=STRETCH, evaluate_every=-1)
    run = train_run(short, tmp_path / "short", how=HOW)
    found = score_on(run, lambda *_: True, least=1, most=1)
    assert found.transitions == (FORMING + 1) * STRETCH


@pytest.mark.slow
def test_it_gives_up_in_the_end(run, audited):
    found = score_on(run, lambda *_: False, least=1, most=2)
    assert found.stretches.shape[0] == 1
    assert found.transitions == run.config.steps + 2 * STRETCH


# --- cross-fitting


@pytest.mark.slow
def test_no_classifier_ever_scores_a_pair_that_it_learned_from(run, audited, monkeypatch):
    """The halves by which an audit scores are those that training draws from."""
    halves = []
    init = CrossFitted.__init__

    def spy(self, demos, given):
        halves.extend(given)
        init(self, demos, given)

    monkeypatch.setattr(CrossFitted, "__init__", spy)
    score_on(run, lambda *_: True, least=1, most=1)
    count = len(audited.demos)
    numbered = np.arange(count, dtype=np.float32)[:, None]
    learner = make_reward_learner(run.config)
    for iteration in range(3):
        draws = learner.sample(DemoArrays(numbered, numbered), np.random.default_rng(iteration))
        for i in (0, 1):
            assert set(np.asarray(draws.obs[:, i]).ravel().astype(int)) <= set(halves[i].tolist())
    assert set(halves[0].tolist()).isdisjoint(halves[1].tolist())


@pytest.mark.parametrize("chunk", [scores.CHUNK, 100, 7])
def test_each_half_is_scored_by_the_classifier_of_the_other(config, chunk, monkeypatch):
    monkeypatch.setattr(scores, "CHUNK", chunk)
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
        expected = classifier_score(other, normalized, demos.action[halves[i]])
        np.testing.assert_allclose(found[halves[i]], expected, rtol=1e-4, atol=1e-5)


def test_the_average_is_of_all_that_came():
    average = Average(3)
    np.testing.assert_array_equal(average.mean, 0.0)
    for row in ([1, 2, 3], [3, 2, 1], [2, 2, 8]):
        average.add(np.array(row, np.float32))
    np.testing.assert_array_equal(average.mean, [2, 2, 4])


# --- pieces


def test_pieces_follow_each_episode_also_where_episodes_are_interleaved():
    episode = np.array([5] * 4 + [2] * 3 + [5] * 3)
    demos = Demonstrations(np.zeros((10, 1)), np.zeros((10, 1)), episode=episode)
    np.testing.assert_array_equal(in_pieces(demos, 3).episode, [0, 0, 0, 1, 3, 3, 3, 1, 1, 2])


def test_pieces_longer_than_the_episodes_are_the_episodes():
    demos = concatenate([demonstrate(share, 2) for share in (1.0, 0.1)])
    np.testing.assert_array_equal(in_pieces(demos, 1000).episode, demos.episode)


# --- what cannot be audited


def test_one_classifier_cannot_judge(config, tmp_path):
    gail = dataclasses.replace(config, method="gail-ap", demos=("not-there.npz",))
    (tmp_path / "config.json").write_text(gail.to_json())
    with pytest.raises(AuditError, match=r"gail-ap.*--method ril-co"):
        audit_run(Run(tmp_path))


def test_a_run_in_phases_is_audited_already(config, tmp_path):
    clean = dataclasses.replace(config, method="ril-co-clean")
    (tmp_path / "config.json").write_text(clean.to_json())
    with pytest.raises(AuditError, match="1-ril-co"):
        audit_run(Run(tmp_path))


@pytest.mark.slow
def test_a_folder_without_checkpoints_is_refused(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run", ignore=shutil.ignore_patterns("checkpoints"))
    with pytest.raises(RunError, match="no checkpoint"):
        audit_run(Run(tmp_path / "run"), how=HOW)
    (tmp_path / "run" / "checkpoints").mkdir()
    with pytest.raises(RunError, match="did training not begin"):
        audit_run(Run(tmp_path / "run"), how=HOW)
    with pytest.raises(RunError, match="not a run folder"):
        audit_run(Run(tmp_path / "nothing"), how=HOW)


@pytest.mark.slow
def test_other_demonstrations_than_the_run_had_are_refused(run, files, config, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    changed = dataclasses.replace(run.config, demos=tuple(files[:-1]))
    (tmp_path / "run" / "config.json").write_text(changed.to_json())
    with pytest.raises(RunError, match=r"config\.json: was changed after the run began.*demos"):
        audit_run(Run(tmp_path / "run"), how=HOW)


# --- what is written


def read_csv(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


@pytest.mark.slow
def test_everything_is_written_down(audited, tmp_path):
    page = write_audit(audited, tmp_path / "audit")
    assert page.read_text().startswith("<!")
    assert Audit.load(tmp_path / "audit" / "audit.json") == audited.audit
    rows = read_csv(tmp_path / "audit" / "demonstrations.csv")
    assert [row["verdict"] for row in rows] == ["keep"] * 20 + ["drop"] * 15
    windows = read_csv(tmp_path / "audit" / "windows.csv")
    assert [(int(row["first_step"]), int(row["pairs"])) for row in windows[:2]] == [(0, 50), (50, 10)]
    with np.load(tmp_path / "audit" / "pairs.npz") as stored:
        for name, values in audited.pairs._asdict().items():
            np.testing.assert_array_equal(stored[name], values)


# --- the command


def rilco(*arguments: object) -> Result:
    """Runs in this process; our own errors come through as they are."""
    result = CliRunner().invoke(cli, ["audit", *map(str, arguments)])
    if isinstance(result.exception, RilcoError):
        raise result.exception
    return result


@pytest.mark.slow
def test_the_command_audits_a_run_and_writes_datasets(audited, run, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    targets = {
        "out": tmp_path / "audit",
        "keep": tmp_path / "new" / "good.hdf5",
        "drop": tmp_path / "bad.npz",
        "minari": tmp_path / "judged-v0",
    }
    options = [part for name, path in targets.items() for part in (f"--{name}", path)]
    result = rilco(run.path, *options, "--no-pictures", "--workers", 1, "--quiet")
    assert result.exit_code == 0, result.output
    assert "mixed (confidence" in result.output
    assert "Kept 20 of 35 demonstrations, 57.1% of the pairs." in result.output
    assert "demonstrations 1.000, kept of the expert 100.0%, of the others 0.0%" in result.output
    assert f"Page: {tmp_path / 'audit' / 'index.html'}" in result.output
    kept, dropped = load_file(targets["keep"]), load_file(targets["drop"])
    np.testing.assert_array_equal(kept.action, 2.0)
    assert (len(kept), len(dropped)) == (20 * EPISODE, 15 * EPISODE)
    assert not dropped.expert.any()
    check_minari(audited, targets["minari"])
    with pytest.raises(ConfigError, match="--keep"):
        rilco(run.path, "--keep", targets["keep"])


def check_minari(audited, path):
    """The judgements, as minari itself reads them."""
    minari = pytest.importorskip("minari")
    dataset = minari.load_dataset(path.name)
    assert dataset.total_episodes == 35
    found = list(dataset.storage.get_episode_metadata(range(35)))
    for metadata, demo in zip(found, audited.audit.demonstrations, strict=True):
        assert metadata["rilco_score"] == demo.score
        assert metadata["rilco_expert_probability"] == demo.expert_probability
        assert metadata["rilco_verdict"] in (demo.verdict, demo.verdict.encode())
        assert metadata["total_steps"] == demo.pairs


@pytest.mark.slow
def test_the_command_trains_where_there_is_no_run(audited, out, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(out, tmp_path / "audit")
    settings = [
        part for name in ("acktr.hidden_sizes=[16]", "classifier.hidden=[32,32]") for part in ("--set", name)
    ]
    demos = [part for file in files for part in ("--demos", file)]
    common = ["--env", OPTIONS["env"], *demos, *settings, "--steps", "25.6k", "--workers", 1, "--quiet"]
    result = rilco(*common, "--out", "audit", "--pieces", 30, "--drop", "bad.h5")
    assert result.exit_code == 0, result.output
    assert not Path("bad.h5").exists(), "that layout holds a single demonstrator"
    assert len(load_file("bad.h5.npz")) == 15 * EPISODE, "which is no reason to lose the result of an audit"
    assert contents(tmp_path / "audit" / "seed-1") == contents(out / "seed-1"), "what was there was used"
    audit = Audit.load("audit/audit.json")
    assert len(audit.demonstrations) == 70
    assert [demo.name for demo in audit.demonstrations[:3]] == [
        "driver-1.npz #1, steps 0–29",
        "driver-1.npz #1, steps 30–59",
        "driver-1.npz #2, steps 0–29",
    ]
    assert audit.settings["pairs in a piece"] == 30
    with pytest.raises(ConfigError, match="too few"):
        rilco(*common, "--steps", 1000)
    assert not list(tmp_path.glob("audit-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--task", "hopper"), "--task"),
        (("--env", "Hopper-v5", "--steps", "1k"), "--env, --steps"),
        (("--demos", "a.npz"), "--demos"),
        (("--seeds", "2"), "--seeds"),
        (("--set", "classifier.lam=0.3"), "leave out --set,"),
    ],
)
def test_a_run_has_its_own_settings(run, options, named):
    with pytest.raises(ConfigError, match=named):
        rilco(run.path, *options)


def test_what_cannot_be_written_is_refused_before_training(files, tmp_path, monkeypatch):
    from rilco.judging import auditing

    def not_now(*arguments, **options):
        raise AssertionError("training began")

    monkeypatch.setattr(auditing, "train_and_audit", not_now)
    (tmp_path / "there.npz").write_bytes(b"mine")
    common = ["--env", OPTIONS["env"], "--demos", files[0], "--out", tmp_path / "audit"]
    for name in ("--keep", "--drop", "--minari"):
        with pytest.raises(ConfigError, match=f"{name}.*already"):
            rilco(*common, name, tmp_path / "there.npz")
    with pytest.raises(RilcoError, match="what"):
        rilco(*common, "--keep", tmp_path / "good.what")
    with pytest.raises(ConfigError, match="replace the other"):
        rilco(*common, "--keep", tmp_path / "one.npz", "--drop", tmp_path / "." / "one.npz")
    with pytest.raises(ConfigError, match="replace the other"):  # if its layout cannot hold what is kept
        rilco(*common, "--keep", tmp_path / "one.h5", "--drop", tmp_path / "one.h5.npz")
    for place in (tmp_path / "there.npz", tmp_path / "there.npz" / "deeper"):
        with pytest.raises(ConfigError, match=r"--out .*expected a folder"):
            rilco(*common[:-1], place)
    result = rilco(*common, "--keep", tmp_path / "there.npz", "--overwrite")
    assert isinstance(result.exception, AssertionError)
    assert (tmp_path / "there.npz").read_bytes() == b"mine"


def test_another_method_is_refused_before_training(files, tmp_path):
    common = ["--env", OPTIONS["env"], "--demos", files[0], "--out", tmp_path / "audit"]
    with pytest.raises(AuditError, match="gail-ap"):
        rilco(*common, "--set", "method=gail-ap")
    assert not (tmp_path / "audit").exists()


@pytest.mark.slow
def test_there_may_be_nothing_to_drop(audited, tmp_path, capsys):
    from rilco.cli.audit import _write_datasets

    everything = audited.pairs._replace(keep=np.ones(len(audited.demos), bool))
    options = {"keep": None, "drop": str(tmp_path / "bad.npz"), "minari": None}
    _write_datasets(audited._replace(pairs=everything), options)
    assert "nothing to drop" in capsys.readouterr().out
    assert not (tmp_path / "bad.npz").exists()
