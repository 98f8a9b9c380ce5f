"""Running a finished policy: returns over episodes, and frames of one."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rilco.errors import ConfigError, RunError, require
from rilco.files import cannot_write
from rilco.policy.saved import Policy, load_policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import Evaluation, RolloutPool, default_workers
from rilco.seeding import EVALUATION, RepositionedGenerator
from rilco.tasks.table import Task
from rilco.tasks.trust import trust

VIDEO_FORMATS = (".mp4", ".gif")


def evaluate(
    policy: Policy | str | os.PathLike[str],
    *,
    episodes: int = 10,
    seed: int = 0,
    task: Task | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    workers: int | None = None,
    trust_env: bool = False,
) -> Evaluation:
    """Returns and lengths of whole episodes with the deterministic policy.

    `policy` may be a run folder or a policy file; the environment is the one it was trained in unless `task` or
    `env` say otherwise. `env` is an id, a class or function of a module with its `env_kwargs`, or an `EnvSpec`.
    `trust_env` allows the policy's file to name a module that is imported.
    """
    if episodes < 1:
        raise ConfigError(f"--episodes {episodes}: expected at least 1.")
    if not isinstance(policy, Policy):
        policy = load_policy(policy)
    if env is not None:
        task = Task(env=env, env_kwargs=env_kwargs or {}, obs_keys=policy.card.get("obs_keys", ()))
    task = task or task_of(policy, trust_env=trust_env)
    check_fits(policy, task)
    workers = min(workers or default_workers(), episodes)
    sizes = Sizes(workers, 1, policy.obs_dim, policy.actions, policy.hidden_sizes)
    with RolloutPool(task, sizes, seed=seed, num_workers=workers) as pool:
        return pool.evaluate(policy, episodes=episodes, seed=seed)


def task_of(policy: Policy, *, trust_env: bool = False) -> Task:
    """The environment that a policy's card names; `trust_env` allows it to be any module's."""
    task, env = policy.card.get("task"), policy.card.get("env")
    if task is None and env is None:
        raise RunError(
            f"{policy}: this policy's file does not say what environment it is for. Evaluate it with --env ID; from "
            "Python, `rilco.evaluate(policy, env=...)`."
        )
    how = {name: policy.card[name] for name in ("env_kwargs", "obs_keys") if name in policy.card}
    made = Task(task=task, env=env, named_by=policy.file, **how)
    if trust_env:
        trust(made.name)
    return made


def check_fits(policy: Policy, task: Task) -> None:
    """Raises unless the policy's observations and actions are those of the environment."""
    spaces = task.spaces()
    ours, theirs = (policy.obs_dim, policy.action_dim), (spaces.observations.width, spaces.actions.width)
    if ours != theirs or policy.actions.choices != spaces.actions.choices:
        raise RunError(
            f"{policy}: takes {ours[0]} observation and gives {ours[1]} action dimensions, but {task.name} has "
            f"{theirs[0]} and {theirs[1]}{' choices' if spaces.actions.choices else ''}. The policy was trained for "
            "another environment."
        )


def frames(
    policy: Policy, *, seed: int = 0, max_steps: int = 1000, task: Task | None = None
) -> Iterator[np.ndarray]:
    """RGB frames [height, width, 3] of the first episode that `evaluate` plays with this seed, a frame a step."""
    task = task or task_of(policy)
    check_fits(policy, task)
    batch = task.make_batch(1, render=True)
    try:
        obs = batch.reset([0], [RepositionedGenerator(seed, EVALUATION).at(0)])
        yield batch.render(0)
        for _ in range(max_steps):
            outcome = batch.step(policy.best(obs))
            obs = outcome.obs
            yield batch.render(0)
            if outcome.terminated[0] or outcome.truncated[0]:
                return
    finally:
        batch.close()


def play(
    policy: Policy | str | os.PathLike[str],
    video: str | os.PathLike[str],
    *,
    seed: int = 0,
    max_steps: int = 1000,
    fps: int = 60,
    trust_env: bool = False,
) -> int:
    """Write a video of one episode, mp4 or gif by the file's ending; returns the number of frames."""
    path = Path(video)
    if path.suffix not in VIDEO_FORMATS:
        raise ConfigError(f"--video {path}: expected a name that ends in {' or '.join(VIDEO_FORMATS)}.")
    if not isinstance(policy, Policy):
        policy = load_policy(policy)
    task = task_of(policy, trust_env=trust_env)
    # The name keeps its ending while the video is half-written, since the encoder goes by it.
    partial = path.with_name(f".{path.stem}.part{path.suffix}")
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings(), contextlib.closing(_video_writer(partial, fps)) as writer:
            # The encoder is a process of its own; it is started by fork and exec, which does JAX no harm.
            warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
            for frame in frames(policy, seed=seed, max_steps=max_steps, task=task):
                writer.append_data(frame)
                count += 1
        partial.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        partial.unlink(missing_ok=True)
    return count


def _video_writer(path: Path, fps: int) -> Any:
    require("imageio", "Videos", "video")
    import imageio.v2 as imageio

    if path.suffix == ".gif":
        return imageio.get_writer(path, fps=min(fps, 50), loop=0)  # gif counts in hundredths of a second
    return imageio.get_writer(path, fps=fps, macro_block_size=8)
