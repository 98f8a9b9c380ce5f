"""One iteration's learning as a single jitted call: reward learner, relabelling, policy learner, statistics."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rilco.data.standard import cache_folder
from rilco.networks import count_nonfinite
from rilco.normalizer import (
    Normalizer,
    RewardScaler,
    init_normalizer,
    init_reward_scaler,
    normalize,
    scale_rewards,
    standardize,
    update_normalizer,
)
from rilco.policy.learner import Actor, PolicyLearner, Rollout, with_actor
from rilco.policy.saved import Policy
from rilco.rewards.learner import RewardLearner
from rilco.rollout.pool import Transitions
from rilco.tasks.actions import AS_THEY_ARE, Actions

Info = dict[str, jax.Array]

STATISTICS_WEIGHT = 1e6  # observations that a given policy's statistics count for, where they are updated
ZSTANDARD = b"\x28\xb5\x2f\xfd"  # how a program begins that JAX packed with that library; else it is zlib's
QUICK = {
    "xla_backend_optimization_level": 1,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,  # so small a program takes less time in one part
}


class LearnerState(NamedTuple):
    """All that learning carries from one iteration to the next; a checkpoint holds it whole."""

    normalizer: Normalizer
    scaler: RewardScaler  # moves only when training on the true reward
    reward: Any
    policy: Any


class Experience(NamedTuple):
    """Transitions as arrays for the learner; raw, not normalised. On the host they are NumPy's."""

    obs: Any  # [T + 1, B, obs_dim]
    obs_mean: Any  # [T + 1, obs_dim] by which the policy saw each line
    obs_var: Any  # [T + 1, obs_dim]
    action: Any  # [T, B, action_dim]
    reward: Any  # [T, B] float32
    terminated: Any  # [T, B]
    truncated: Any  # [T, B]


def run_key(seed: int) -> jax.Array:
    """`jax.random.key` of a run's seed, without the programs that would be compiled for it."""
    return jax.random.wrap_key_data(jax.device_put(np.array([0, seed], np.uint32)), impl="threefry2x32")


@functools.cache
def keep_compiled_programs() -> None:
    """Let JAX keep what it compiles in rilco's cache, where the next process finds it. The folder is safe to delete.

    A program suits the processor that it was compiled for, so each kind of processor has a folder of its own.
    JAX_COMPILATION_CACHE_DIR names another folder; empty, it keeps nothing.
    """
    if getattr(jax.config, "jax_compilation_cache_dir", None) or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    cpuinfo = Path("/proc/cpuinfo")
    processor = cpuinfo.read_text().split("flags", 1)[-1].split("\n", 1)[0] if cpuinfo.exists() else ""
    name = f"{platform.machine()} {platform.processor()} {processor}"
    kind = hashlib.sha256(name.encode()).hexdigest()[:12]
    folder = cache_folder() / f"compiled-{kind}"
    with contextlib.suppress(OSError):
        remove_torn(folder)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def let_threads_sleep() -> None:
    """Let the threads of SciPy's OpenBLAS, by which JAX decomposes matrices, sleep where they have nothing to do. Else they
    spin after every call, for a quarter of learning's processor time. To the same bits; too late once SciPy is loaded."""
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # spin for 2^4 cycles, in place of 2^26


def remove_torn(folder: Path) -> None:
    """Remove programs that a kill or a full disk tore. JAX writes them in place and never replaces one, so such a program
    would be compiled again at every start. Each file is looked at once."""
    looked, now = folder / "looked-at", time.time()
    since = looked.stat().st_mtime if looked.exists() else 0.0
    for file in folder.glob("*-cache"):
        if file.stat().st_mtime >= since and not _is_whole(file.read_bytes()):
            file.unlink(missing_ok=True)
    if folder.exists():
        looked.touch()
        os.utime(looked, (now, now))


def _is_whole(program: bytes) -> bool:
    if program.startswith(ZSTANDARD):
        return True  # JAX looks at it itself
    try:
        return bool(zlib.decompress(program))
    except zlib.error:
        return False


def _compiled_quickly(init: Callable[..., LearnerState]) -> Callable[..., LearnerState]:
    """Jitted, of all but the key. It runs once: less optimisation gives the same bits, and compiles in half the time."""
    quick, plain = (
        jax.jit(init, static_argnums=(0, 2, 3, 4), compiler_options=options) for options in (QUICK, None)
    )

    def call(*arguments: Any) -> LearnerState:
        try:
            return quick(*arguments)
        except jax.errors.JaxRuntimeError as error:
            if "compile option" not in str(error):
                raise
            return plain(*arguments)  # this version of XLA has other options

    return call


@dataclass(frozen=True)
class Learner:
    """A learner of rewards and one of policies, composed to pure functions. Equal ones share what is compiled."""

    reward_learner: RewardLearner | None
    """Without one the policy learns from the true reward."""
    policy_learner: PolicyLearner
    discount: float
    moving_iterations: int
    """Iterations in which whoever collects moves the state's normaliser, step by step. Then it stays, or, on the true
    reward, counts an iteration's observations after it."""
    hold_actor_for: int = 0
    """Iterations in which the actor stays as it is, while everything else learns."""
    lasting_ends: bool = False
    """Whether a learned reward of a terminal step is paid for ever, as a sum: r / (1 - discount)."""
    actions: Actions = AS_THEY_ARE
    """The policy's kind; left out, they are the environment's own."""

    @_compiled_quickly
    def init(self, key: jax.Array, obs_dim: int, action_dim: int, num_envs: int) -> LearnerState:
        (reward_key, policy_key), learner = jax.random.split(key), self.reward_learner
        return LearnerState(
            normalizer=init_normalizer(obs_dim),
            scaler=init_reward_scaler(num_envs),
            reward=() if learner is None else learner.init(reward_key, obs_dim, action_dim),
            policy=self.policy_learner.init(policy_key, obs_dim, action_dim),
        )

    @functools.partial(jax.jit, static_argnums=0)
    def learn(
        self, state: LearnerState, experience: Experience, demo_batches: Any, iteration: int, key: jax.Array
    ) -> tuple[LearnerState, Info]:
        """One iteration. `key` is the run's, the same every time."""
        reward_key, policy_key = jax.random.split(jax.random.fold_in(key, iteration))
        # By the statistics that the policy acted with, which may have moved from step to step.
        obs = standardize(experience.obs, experience.obs_mean[:, None], experience.obs_var[:, None])
        reward_state, scaler, reward, info = self._rewards(state, experience, obs, demo_batches, reward_key)
        rollout = Rollout(
            obs[:-1], experience.action, reward, experience.terminated, experience.truncated, obs[-1]
        )
        policy_state, policy_info = self.policy_learner.update(state.policy, rollout, policy_key)
        if self.hold_actor_for:
            held = with_actor(policy_state, state.policy.params.actor)
            hold = functools.partial(jnp.where, iteration < self.hold_actor_for)
            policy_state = jax.tree.map(hold, held, policy_state)
        normalizer = state.normalizer
        if self.reward_learner is None:
            normalizer = jax.lax.cond(
                iteration < self.moving_iterations,
                lambda: state.normalizer,
                lambda: update_normalizer(state.normalizer, experience.obs[1:].reshape(-1, obs.shape[-1])),
            )
        new_state = LearnerState(normalizer, scaler, reward_state, policy_state)
        info |= policy_info | {"reward": jnp.mean(reward)}
        parts = {"reward_learner": reward_state, "policy_learner": policy_state}
        return new_state, info | {f"nonfinite_{name}": count_nonfinite(part) for name, part in parts.items()}

    def _rewards(
        self, state: LearnerState, experience: Experience, obs: jax.Array, demo_batches: Any, key: jax.Array
    ) -> tuple[Any, RewardScaler, jax.Array, Info]:
        """Rewards [T, B] for the policy learner: learned ones, or the environment's scaled to a steady size."""
        learner, ended = self.reward_learner, (experience.terminated, experience.truncated)
        if learner is None:
            scaler, reward = scale_rewards(state.scaler, experience.reward, *ended, self.discount)
            return (), scaler, reward, {}
        flat_obs = obs[:-1].reshape(-1, obs.shape[-1])
        flat_action = experience.action.reshape(-1, experience.action.shape[-1])
        normalized = functools.partial(normalize, state.normalizer)
        reward_state, info = learner.update(
            state.reward, demo_batches, flat_obs, flat_action, normalized, key
        )
        reward = learner.reward(reward_state, obs[:-1], experience.action)
        if self.lasting_ends:
            reward = jnp.where(experience.terminated, reward / (1.0 - self.discount), reward)
        return reward_state, state.scaler, reward, info

    def policy(self, state: LearnerState) -> Policy:
        """The policy to act with, as NumPy arrays."""
        actor = state.policy.params.actor
        layers = [(np.asarray(layer["w"]), np.asarray(layer["b"])) for layer in actor.layers]
        mean, var = np.asarray(state.normalizer.mean), np.asarray(state.normalizer.var)
        return Policy(mean, var, layers, np.asarray(actor.log_std), actions=self.actions)

    def with_policy(self, state: LearnerState, policy: Policy) -> LearnerState:
        """Begin with a given policy: its network, its spread and its observation statistics."""
        layers = tuple({"w": jnp.asarray(weight), "b": jnp.asarray(bias)} for weight, bias in policy.layers)
        actor = Actor(layers, jnp.asarray(policy.log_std))
        normalizer = Normalizer(
            jnp.asarray(policy.obs_mean), jnp.asarray(policy.obs_var), jnp.float32(STATISTICS_WEIGHT)
        )
        return state._replace(normalizer=normalizer, policy=with_actor(state.policy, actor))


def to_experience(transitions: Transitions) -> Experience:
    """Transitions for `Learner.learn`; what the environment calls a reward becomes float32.

    JAX may use the shared memory as it is, without a copy: learning must be over before the next `collect`.
    """
    reward = transitions.reward.astype(np.float32)
    return Experience(*transitions[:4], reward, transitions.terminated, transitions.truncated)
