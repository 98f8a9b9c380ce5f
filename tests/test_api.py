"""The public names, and how they fit together from Python."""

from __future__ import annotations

import dataclasses
import doctest
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import numpy as np
import pytest
from click.testing import CliRunner
from tests.environments import Drift, Units, env_id
from tests.experiment.tiny import RIL_CO, SMALL

import rilco
from rilco.data.run_data import read_demonstrations


def demonstrations(episodes: int = 12, length: int = 20) -> rilco.Demonstrations:
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(episodes * length, 2))
    return rilco.Demonstrations(
        obs, np.tanh(obs[:, :1]), episode=np.repeat(np.arange(episodes), length), demonstrator_names=("me",)
    )


def train(out: Path, **options: Any) -> rilco.Run:
    given = {"env": env_id("Drift"), "steps": 200, "seed": 5, "quiet": True, "settings": RIL_CO, **options}
    return rilco.train(out, workers=1, **given)


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in rilco.__all__:
        assert getattr(rilco, name).__doc__, name
    assert sorted(dir(rilco)) == sorted([*rilco.__all__, "__version__"]), "and nothing else"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rilco.nothing  # noqa: B018


# In this order: some read what others write.
EXAMPLES = (
    *("Demonstrations", "load_demonstrations", "save_demonstrations", "mix", "audit", "load_audit", "Audit", "clone"),
    *("train", "load_run", "Run", "RunConfig", "Task", "TensorBoard", "evaluate", "collect", "load_policy", "Policy"),
    *("sweep", "report", "RilcoError"),
)  # fmt: skip


@pytest.mark.slow
def test_the_example_of_every_public_name_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    pytest.importorskip("matplotlib")
    assert sorted(EXAMPLES) == sorted(rilco.__all__)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(600, 3))
    mine = rilco.Demonstrations(obs, np.tanh(obs[:, :1]), episode=np.repeat(np.arange(12), 50))
    rilco.save_demonstrations(mine, "mine.hdf5")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    for name in EXAMPLES:
        found = doctest.DocTestParser().get_doctest(
            getattr(rilco, name).__doc__, {"rilco": rilco, "np": np}, name, None, None
        )
        assert found.examples, f"{name} has no example"
        runner.run(found, out=said.append)
    assert not said, "".join(said)


def test_from_an_audit_to_an_evaluated_policy(tmp_path: Path) -> None:
    audit = rilco.audit(demonstrations())
    kept = audit.kept or audit.demonstrations
    run = train(tmp_path / "run", demos=kept)
    assert rilco.load_run(run.path).config.demos == (str(run.path / "demonstrations.npz"),)
    assert len(rilco.evaluate(run.policy, env=env_id("Drift"), episodes=3).returns) == 3
    assert rilco.evaluate(str(run.path), episodes=2, workers=1).lengths.min() >= 7


def test_a_given_object_can_be_resumed(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", demos=demonstrations())
    part = train(tmp_path / "part", demos=demonstrations(), callback=lambda record: record["iteration"] < 4)
    assert [line["iteration"] for line in part.metrics()] == [1, 2, 3, 4]
    resumed = rilco.train(part.path, resume=True, quiet=True, workers=1)
    for name, array in whole.last_policy.arrays().items():
        assert np.array_equal(array, resumed.last_policy.arrays()[name])


def test_arrays_and_several_objects_are_demonstrations_too(tmp_path: Path) -> None:
    demos = demonstrations()
    arrays = {"obs": demos.obs, "action": demos.action, "episode": demos.episode}
    for number, given in enumerate((arrays, tuple(arrays.values()), [demos, demos])):
        run = train(tmp_path / str(number), demos=given, steps=20)
        stored = rilco.load_demonstrations(run.config.demos)
        assert np.array_equal(stored.obs[: len(demos)], demos.obs)
        assert len(stored.index) in (12, 24)
        assert len(rilco.audit(given).verdict.demonstrations) == len(stored.index)
    assert rilco.clone(arrays, gradient_steps=1).obs_dim == 2
    audit = rilco.audit(arrays)
    audit.save(tmp_path / "audit", pictures=False)
    assert rilco.load_audit(tmp_path / "audit", arrays).verdict.summary in repr(audit)
    assert len(repr(audit)) < 300


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (7, "given as int"),
        (np.zeros((2, 3)), "given as ndarray"),
        ((np.zeros((2, 3)),), "tuple of 1"),
        ({"observations": np.zeros((2, 3)), "action": np.zeros((2, 1))}, "a table of observations, action"),
        ([demonstrations(), "mine.npz"], "list of 2"),
    ],
    ids=["number", "array", "one", "names", "mixed"],
)
def test_what_is_no_demonstrations_is_told_what_would_be(tmp_path: Path, given: Any, said: str) -> None:
    with pytest.raises(
        rilco.RilcoError, match=rf"{said}; expected paths, Demonstrations, or arrays: \(obs, action\)"
    ):
        train(tmp_path / "run", demos=given)


def test_an_object_never_changes_a_run_that_is_there(tmp_path: Path) -> None:
    rilco.save_demonstrations(demonstrations(), tmp_path / "mine.npz")
    train(tmp_path / "run", demos=tmp_path / "mine.npz", steps=20)
    with pytest.raises(rilco.RilcoError, match="holds a run already"):
        train(tmp_path / "run", demos=demonstrations())
    assert not (tmp_path / "run" / "demonstrations.npz").exists()


def test_an_object_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    wrong = rilco.Demonstrations(np.zeros((30, 7)), np.zeros((30, 1)))
    with pytest.raises(rilco.RilcoError, match="another environment"):
        train(tmp_path / "run", demos=wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_callback_sees_every_line_and_its_error_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    seen: list[int] = []

    def watch(record: Mapping[str, Any]) -> None:
        seen.append(record["iteration"])
        if len(seen) == 7:
            raise RuntimeError("enough")

    from rilco.api import train_config
    from rilco.options import make_config
    from rilco.runs.how import How

    config = make_config({"env": env_id("Drift"), "method": "acktr", "steps": 200, **SMALL})
    how = How(workers=1, quiet=True, checkpoint_every=3, callbacks=(watch,))
    with pytest.raises(RuntimeError, match="enough"):
        train_config(config, tmp_path / "run", how=how)
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    resumed = rilco.train(tmp_path / "run", resume=True, quiet=True)
    assert [line["iteration"] for line in resumed.metrics()] == list(range(1, 11))


def test_policies_by_name(tmp_path: Path) -> None:
    policy = rilco.load_policy("hopper#1")
    assert policy.card["task"] == "hopper"
    assert policy.predict(np.zeros(15)).shape == (3,)
    with pytest.raises(rilco.RilcoError, match="No snapshot 9 of hopper"):
        rilco.load_policy("hopper#9")
    with pytest.raises(rilco.RilcoError, match="not a run folder"):
        rilco.load_run(tmp_path)


@pytest.mark.bullet
def test_shipped_policies_are_evaluated_collected_from_and_played_by_name(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    from rilco.cli.play import command as play

    assert rilco.evaluate("hopper#1", episodes=1, workers=1).returns[0] > 2000
    assert rilco.collect("hopper#1", episodes=1, num_envs=1).obs_dim == 15
    played = CliRunner().invoke(play, ["hopper#1", "--video", str(tmp_path / "a.gif"), "--max-steps", "3"])
    assert played.output == f"{tmp_path / 'a.gif'}: 4 frames\n"


def test_a_policy_is_collected_from_by_name_in_its_own_environment(tmp_path: Path) -> None:
    run = train(tmp_path / "run", demos=demonstrations(), steps=20)
    made = rilco.collect(run.path, episodes=2)
    assert np.array_equal(made.obs, rilco.collect(run.policy, run.config.task, episodes=2).obs)
    with pytest.raises(rilco.RilcoError, match="No snapshot 9 of hopper"):
        rilco.collect("hopper#9")


def test_a_run_can_start_from_a_shipped_policy(tmp_path: Path) -> None:
    pytest.importorskip("pybullet")
    settings = {**SMALL, "acktr.hidden_sizes": [64, 64], "hold_actor_for": 9, "evaluate_every": -1}
    options = {"method": "acktr", "task": "hopper", "steps": 20, "quiet": True, "workers": 1}
    run = rilco.train(tmp_path / "run", start_from="hopper#1", settings=settings, **options)
    assert run.config.start_from == "hopper#1"
    shipped, obs = rilco.load_policy("hopper#1"), np.ones((3, 15))
    assert np.allclose(run.last_policy.predict(obs), shipped.predict(obs), atol=1e-2), "held"
    with pytest.raises(rilco.RilcoError, match="No snapshot 9 of hopper"):
        rilco.train(tmp_path / "other", start_from="hopper#9", settings=settings, **options)


def test_a_run_goes_wherever_a_policy_or_its_folder_does(tmp_path: Path) -> None:
    run = train(tmp_path / "run", demos=demonstrations(), steps=20)
    policy = run.policy
    assert rilco.load_policy(policy) is policy
    assert rilco.load_run(run) == run
    assert len(rilco.audit(run).verdict.demonstrations) == 12
    returns = [rilco.evaluate(given, episodes=2, workers=1).returns.tolist() for given in (run, policy)]
    assert returns[0] == returns[1]
    assert rilco.collect(run, episodes=2).fingerprint() == rilco.collect(policy, episodes=2).fingerprint()


def test_an_environment_is_named_alike_everywhere(tmp_path: Path) -> None:
    """By what it is, by its name, or by a `Task`, whose keyword arguments may be added to."""
    task = rilco.Task(env=Units, env_kwargs={"unit": 2.0})
    demos = changed(action=2.0 * demonstrations().action)
    policy = rilco.clone(demos, env=task, gradient_steps=1)
    assert policy.actions.scale == (2.0,)
    assert train(tmp_path / "run", env=task, demos=demos, steps=20).config.task == task
    named: list[dict[str, Any]] = [{}, {"task": task}, {"env": Units, "env_kwargs": {"unit": 2.0}}]
    returns = [rilco.evaluate(policy, episodes=2, workers=1, **how).returns.tolist() for how in named]
    assert returns[0] == returns[1] == returns[2]
    made = [rilco.collect(policy, episodes=2, **how).fingerprint() for how in named]
    assert made[0] == made[1] == made[2]
    other = rilco.collect(policy, env=task, env_kwargs={"unit": 4.0}, episodes=2)
    assert other.fingerprint() != made[0]
    with pytest.raises(rilco.RilcoError, match="Choose one environment"):
        rilco.evaluate(policy, task=task, env=Units)


def test_cloning_for_an_environment_checks_the_demonstrations(tmp_path: Path) -> None:
    with pytest.raises(rilco.RilcoError, match="takes choices"):
        rilco.clone(demonstrations(), env=env_id("Steps"))
    run = train(
        tmp_path / "run",
        method="bc",
        demos=demonstrations(),
        steps=640,
        settings={"num_envs": 4, "num_steps": 5},
    )
    steps = run.metrics()[-1]["gradient_steps"]
    cloned = rilco.clone(demonstrations(), env=env_id("Drift"), gradient_steps=steps, seed=5)
    for name, array in run.last_policy.arrays().items():
        assert np.array_equal(array, cloned.arrays()[name]), name


@pytest.mark.parametrize("value", [0, -3, 2.5, float("nan"), float("inf"), "7", None])
def test_counts_are_whole_numbers(tmp_path: Path, value: Any) -> None:
    policy = rilco.load_policy("hopper#1")
    for name, call in {
        "gradient-steps": lambda: rilco.clone(demonstrations(), gradient_steps=value),
        "pairs": lambda: rilco.collect(policy, pairs=value),
        "episodes": lambda: rilco.evaluate(policy, episodes=value),
    }.items():
        with pytest.raises(
            rilco.RilcoError, match=f"--{name} {value}: expected a whole number of at least 1"
        ):
            call()
    if value is not None:
        with pytest.raises(rilco.RilcoError, match="steps"):
            train(tmp_path / "run", demos=demonstrations(), steps=value)
        with pytest.raises(rilco.RilcoError, match=f"--workers {value}: expected a whole number"):
            rilco.train(
                tmp_path / "run", env=env_id("Drift"), demos=demonstrations(), workers=value, quiet=True
            )
    assert list(tmp_path.iterdir()) == []


def test_numbers_may_be_numpys_and_counts_floats(tmp_path: Path) -> None:
    given = {**RIL_CO, "classifier.lam": np.float32(0.25), "evaluate_every": 1e5, "num_envs": np.int64(4)}
    run = train(tmp_path / "run", demos=demonstrations(), steps=2e1, seed=np.int64(3), settings=given)
    config = run.config
    assert (config.seed, config.steps, config.evaluate_every, config.classifier.lam) == (3, 20, 100_000, 0.25)


def test_a_given_policy_is_kept_and_may_be_in_other_units(tmp_path: Path) -> None:
    """Cloned without an environment, it has the units of the demonstrations; the run has the environment's."""
    demos = changed(action=20.0 * demonstrations().action)
    cloned = rilco.clone(demos, gradient_steps=200)
    settings = {**RIL_CO, "acktr.hidden_sizes": [64, 64], "hold_actor_for": 99}
    options = {"env": Units, "env_kwargs": {"unit": 20.0}, "demos": demos, "start_from": cloned}
    run = train(tmp_path / "run", **options, steps=40, settings=settings)
    assert cloned.actions.scale != run.last_policy.actions.scale == (20.0,)
    np.testing.assert_allclose(
        run.last_policy.predict(demos.obs),
        np.clip(cloned.predict(demos.obs), -20.0, 20.0),
        rtol=1e-3,
        atol=1e-3,
    )
    run.path.rename(tmp_path / "moved")
    moved = rilco.train(tmp_path / "moved", resume=True, quiet=True, steps=80, workers=1, demos=demos)
    whole = train(tmp_path / "whole", **options, steps=80, settings=settings)
    for name, array in whole.last_policy.arrays().items():
        assert np.array_equal(array, moved.last_policy.arrays()[name]), name
    for other in ({"start_from": rilco.clone(demos, gradient_steps=1)}, {"demos": demonstrations()}):
        with pytest.raises(rilco.RilcoError, match="this run began with other contents"):
            rilco.train(moved, resume=True, quiet=True, steps=120, workers=1, **other)
    assert rilco.load_run(moved).config.steps == 80


def test_named_observations_in_memory_come_in_the_order_of_the_environment(tmp_path: Path) -> None:
    y, side, clock = np.arange(24.0).reshape(12, 2), np.arange(12) % 2, np.arange(12.0)
    obs = {"state": {"y": y, "a": side}, "clock": clock}
    settings = {**RIL_CO, "classifier.batch": 4, "classifier.candidates": 4, "classifier.selected": 2}
    common = {"env": env_id("Named"), "steps": 20, "settings": settings}
    keys = ["state/y", "clock"]
    every = train(tmp_path / "every", demos={"obs": obs, "action": side}, **common)
    stored = rilco.load_demonstrations(every.path / "demonstrations.npz").obs
    assert stored.tolist() == np.column_stack([clock, side, y]).tolist()
    some = train(tmp_path / "some", demos=(obs, side), obs_keys=keys, **common)
    stored = rilco.load_demonstrations(some.path / "demonstrations.npz").obs
    assert stored.tolist() == np.column_stack([y, clock]).tolist()
    given = {"obs": obs, "action": side, "episode": np.repeat(np.arange(2), 6)}
    rilco.audit(given, obs_keys=keys).save(tmp_path / "audit", pictures=False)
    assert rilco.load_audit(tmp_path / "audit", given).demonstrations.obs.tolist() == stored.tolist()
    named = rilco.load_demonstrations((obs, side), obs_keys="state/y, clock")
    assert named.obs.tolist() == stored.tolist()
    with pytest.raises(rilco.RilcoError, match="no low-dimensional observation 'speed'"):
        rilco.load_demonstrations({"obs": obs, "action": side}, obs_keys=["speed"])
    with pytest.raises(rilco.RilcoError, match="different numbers of pairs: clock 3, state/a 12"):
        rilco.load_demonstrations({"obs": {**obs, "clock": clock[:3]}, "action": side})


def test_parts_that_an_environment_does_not_show_are_left_out_and_those_that_it_does_must_be_there(
    tmp_path: Path,
) -> None:
    """In memory and in a file alike. With the part that is too much there are as many columns as the environment has."""
    parts = {
        "clock": np.arange(12.0)[:, None],
        "state/a": np.arange(12)[:, None] % 2,
        "state/y": np.ones((12, 2)),
    }
    more = {"also": np.full((12, 1), 7.0), **parts}
    with h5py.File(tmp_path / "more.hdf5", "w") as file:
        file["data/demo_0/actions"] = np.arange(12)[:, None] % 2
        for name, part in more.items():
            file[f"data/demo_0/obs/{name}"] = part
    settings = {**RIL_CO, "classifier.batch": 4, "classifier.candidates": 4, "classifier.selected": 2}
    for number, given in enumerate([(more, np.arange(12) % 2), tmp_path / "more.hdf5"]):
        options = {"env": env_id("Named"), "steps": 20, "settings": settings}
        run = train(tmp_path / str(number), demos=given, **options)
        seen = read_demonstrations(run.config)
        assert seen is not None
        assert seen.obs[:3].tolist() == [[0, 1, 0, 1, 1], [1, 0, 1, 1, 1], [2, 1, 0, 1, 1]]
        with pytest.raises(rilco.RilcoError, match="too few for an audit"):  # they fit
            rilco.audit(given, env=env_id("Named"), steps=20)
        with pytest.raises(rilco.RilcoError, match="no observation 'state/place'; it has clock"):
            rilco.audit(given, env=env_id("Named"), steps=20, obs_keys=["state/place"])
    del more["clock"]
    for act in (rilco.train, rilco.audit, rilco.clone):
        out = {"out": tmp_path / "never"} if act is rilco.train else {}
        with pytest.raises(rilco.RilcoError, match="no low-dimensional observation 'clock'"):
            act(**out, demos=(more, np.arange(12) % 2), env=env_id("Named"))


def test_one_non_expert_may_be_mixed_in_as_it_is() -> None:
    expert, worse = demonstrations(), changed(action=-demonstrations().action)
    mixed = [rilco.mix(expert, others, noise_rate=0.2).fingerprint() for others in (worse, [worse])]
    assert mixed[0] == mixed[1]


def test_demonstrations_there_and_back(tmp_path: Path) -> None:
    demos = demonstrations()
    rilco.save_demonstrations(demos, tmp_path / "mine.hdf5", format="robomimic")
    assert np.array_equal(rilco.load_demonstrations(tmp_path / "mine.hdf5").obs, demos.obs)


def test_a_sweep_and_its_report(tmp_path: Path) -> None:
    grid = {"env": env_id("Drift"), "method": ["acktr", "no-such"], "steps": 40, **SMALL}
    with pytest.raises(rilco.RilcoError, match="unknown method"):
        rilco.sweep(grid, tmp_path / "runs", quiet=True)
    swept = rilco.sweep({**grid, "method": "acktr"}, tmp_path / "runs", seeds=[3, 4], steps=60, quiet=True)
    assert [run.config.seed for run in swept.runs.values()] == [3, 4]
    assert {run.config.steps for run in swept.runs.values()} == {60}
    assert swept.failures == {}
    again = rilco.sweep(
        {**grid, "method": "acktr"}, tmp_path / "runs", seeds="3-4", steps=60, only=["seed=4"]
    )
    assert list(again.runs) == [name for name in swept.runs if name.endswith("4")], "finished before"
    page = rilco.report(tmp_path / "runs", tmp_path / "report")
    assert page == tmp_path / "report" / "index.html"
    assert "Drift" in page.read_text()


@pytest.mark.parametrize("name", ["demos", "start_from"])
def test_runs_of_a_sweep_read_files(tmp_path: Path, name: str) -> None:
    """They are processes of their own."""
    given = demonstrations() if name == "demos" else rilco.load_policy("hopper#1")
    grid = {"env": env_id("Drift"), "method": "ril-co", "demos": "mine.npz", name: given}
    with pytest.raises(rilco.RilcoError, match=rf"{name}: expected paths .*Save it first"):
        rilco.sweep(grid, tmp_path)


def test_a_sweep_tells_which_runs_failed(tmp_path: Path) -> None:
    jobs = [("broken", {"env": env_id("Drift"), "method": "bc", "demos": "missing.npz", "steps": 40})]
    swept = rilco.sweep(jobs, tmp_path, workers=1, quiet=True)
    assert swept.runs == {}
    assert "exit code" in swept.failures["broken"]


def local_env() -> Any:
    class Inside(Drift):
        pass

    return Inside


def changed(**arrays: Any) -> rilco.Demonstrations:
    return dataclasses.replace(demonstrations(), **arrays)


PAIRS = len(demonstrations())
CHOICES = np.arange(PAIRS) % 2  # of Steps there are more


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"env": lambda: Drift()}, "is a lambda, .* or has no name. Worker processes import"),
        ({"env": local_env()}, "inside a function.*Define it at the top of a module"),
        ({"env": Drift()}, "made already cannot be used"),
        ({"env": Drift, "env_kwargs": {"size": object()}}, "what JSON can hold"),
        ({"env": Drift, "env_kwargs": [("size", 1)]}, "--env-kwargs .*: expected a table"),
        ({"env": "hopper"}, "Did you mean --task hopper?"),
        ({"env": "tests.environments:Grows"}, "Spaces must not change"),
        ({"env": "tests.environments:Rewires"}, "its spaces change"),
        ({"env": "tests.environments:Huge"}, "first observation holds"),
        ({"demos": changed(action=CHOICES)}, "choices, but .*Drift.* takes quantities"),
        ({"env": env_id("Steps")}, "quantities, such as .* takes choices"),
        (
            {"env": env_id("Steps"), "demos": changed(action=CHOICES - 1)},
            "the first is -1 in row 0. Expected whole",
        ),
        ({"env": env_id("Named"), "settings": {"obs_keys": "state/z"}}, "state/z.*state/y"),
        ({"demos": changed(obs=np.full((PAIRS, 2), 1e30))}, r"reach 1e\+30 in dimension 0"),
        ({"demos": None}, "needs demonstrations.*audit.kept is None where"),
        ({"callback": "print"}, "callback='print': expected a function"),
        ({"callback": [print, None]}, r"callback=\[.*None\]: expected a function"),
        ({"callback": rilco.TensorBoard}, r"callback=<class .*TensorBoard'>: expected a function"),
        ({"demos": changed(action=100 * demonstrations().action)}, "times as large .* other units"),
    ],
    ids=lambda value: value.replace(" ", "-")[:30] if isinstance(value, str) else "",
)
def test_bad_input_is_refused_before_training(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(rilco.RilcoError, match=said):
        train(tmp_path / "run", **{"demos": demonstrations(), **options})
    assert list(tmp_path.iterdir()) == [], "nothing was begun"


def test_observations_that_grow_too_large_later_end_the_run(tmp_path: Path) -> None:
    with pytest.raises(rilco.RilcoError, match=r"Iteration 1: the environment showed \d.*e\+\d\d; expected"):
        train(tmp_path / "run", env="tests.environments:Bursts", demos=demonstrations())


def test_an_id_that_workers_do_not_know_is_told_how_to_name(tmp_path: Path) -> None:
    gymnasium.register("OnlyHere-v0", entry_point="tests.environments:Drift")
    try:
        with pytest.raises(rilco.RilcoError, match="know no id that only your program registers") as caught:
            train(tmp_path / "run", env="OnlyHere-v0", demos=demonstrations())
        assert "Traceback" not in str(caught.value)
    finally:
        gymnasium.registry.pop("OnlyHere-v0")


def test_cloning_without_an_environment_checks_what_can_be_checked(tmp_path: Path) -> None:
    huge = changed(obs=np.full((PAIRS, 2), 1e30))
    with pytest.raises(rilco.RilcoError, match=r"reach 1e\+30 in dimension 0"):
        rilco.clone(huge)
    with pytest.raises(rilco.RilcoError, match=r"reach 1e\+30 in dimension 0"):
        rilco.train(tmp_path / "run", method="bc", demos=huge, quiet=True)
    with pytest.raises(rilco.RilcoError, match="choices up to 1e\\+09; at most 10,000"):
        rilco.clone(changed(action=np.where(CHOICES, 10**9, 0)))


def test_single_actions_that_are_far_out_are_a_warning(tmp_path: Path) -> None:
    action = demonstrations().action.copy()
    action[::50] *= 1e4
    with pytest.warns(UserWarning, match=r"5 of 240 pairs have an action more than 100 times"):
        train(tmp_path / "run", demos=changed(action=action), steps=20)
