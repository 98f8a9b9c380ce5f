"""A policy that acts with NumPy alone: what workers run, what a run folder keeps, what users deploy."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rilco.errors import RunError
from rilco.files import write_atomically
from rilco.tasks.actions import AS_THEY_ARE, Actions

OBS_CLIP = 10.0
OBS_EPSILON = 1e-8
FORMAT = "rilco-policy-1"


@dataclass(frozen=True, repr=False)
class Policy:
    """Normalised observation -> tanh network -> a mean action beside a fixed log-std, or logits of choices."""

    obs_mean: np.ndarray  # [obs_dim]
    obs_var: np.ndarray  # [obs_dim]
    layers: Sequence[tuple[np.ndarray, np.ndarray]]  # (weight [in, out], bias [out]), head last
    log_std: np.ndarray  # [action_dim]; of choices [0]
    card: Mapping[str, Any] = field(default_factory=dict)
    """Where the policy comes from: task, method, seed, transitions, return."""
    actions: Actions = AS_THEY_ARE
    """What the outputs stand for. Left out: they are the environment's actions."""

    def __post_init__(self) -> None:
        if not self.actions.width:
            object.__setattr__(self, "actions", Actions((self.action_dim,)))

    @property
    def obs_dim(self) -> int:
        return int(self.obs_mean.shape[0])

    @property
    def action_dim(self) -> int:
        """Outputs of the network."""
        return int(self.layers[-1][1].shape[0])

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        return tuple(int(weight.shape[1]) for weight, _ in self.layers[:-1])

    @functools.cached_property
    def _obs_scale(self) -> np.ndarray:
        return 1.0 / np.sqrt(self.obs_var + np.float32(OBS_EPSILON))

    def mean(self, obs: np.ndarray) -> np.ndarray:
        """Outputs [n, action_dim] for float32 observations [n, obs_dim]: mean actions in units, or logits."""
        x = obs - self.obs_mean
        x *= self._obs_scale
        np.clip(x, -OBS_CLIP, OBS_CLIP, out=x)
        *hidden, (head, bias) = self.layers
        for weight, b in hidden:
            x = x @ weight
            x += b
            np.tanh(x, out=x)
        return x @ head + bias

    def best(self, obs: np.ndarray) -> np.ndarray:
        """The likeliest actions for observations [n, obs_dim], flat, in the environment's terms: what a batch steps."""
        return self.actions.decode(self.actions.act(self.mean(obs)))

    def predict(
        self,
        obs: np.ndarray,
        *,
        deterministic: bool = True,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """Actions for one observation [obs_dim] or many [n, obs_dim]; sampled when not deterministic.

        They are in the environment's own units and shape, and whole numbers where they are choices.
        """
        obs = np.asarray(obs, np.float32)
        if obs.ndim not in (1, 2) or obs.shape[-1] != self.obs_dim:
            raise ValueError(
                f"predict: expected observations of shape ({self.obs_dim},) or (n, {self.obs_dim}), "
                f"got {obs.shape}"
            )
        output = self.mean(np.atleast_2d(obs))
        noise = None if deterministic else self.actions.noise(rng or np.random.default_rng(), len(output))
        action = self.actions.shaped(
            self.actions.decode(self.actions.act(output, noise, np.exp(self.log_std)))
        )
        return np.asarray(action[0]) if obs.ndim == 1 else action

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights as a flat table, in the order and under the names that files use."""
        table = {"obs_mean": self.obs_mean, "obs_var": self.obs_var, "log_std": self.log_std}
        for i, (weight, bias) in enumerate(self.layers):
            table[f"layer{i}.weight"], table[f"layer{i}.bias"] = weight, bias
        return {name: np.ascontiguousarray(array, np.float32) for name, array in table.items()}

    @classmethod
    def from_arrays(
        cls,
        table: Mapping[str, np.ndarray],
        card: Mapping[str, Any] | None = None,
        actions: Actions = AS_THEY_ARE,
    ) -> Policy:
        count = sum(name.endswith(".weight") for name in table)
        layers = [(table[f"layer{i}.weight"], table[f"layer{i}.bias"]) for i in range(count)]
        return cls(table["obs_mean"], table["obs_var"], layers, table["log_std"], dict(card or {}), actions)

    def save(self, path: str | Path) -> None:
        """Write a safetensors file, atomically; the same policy always gives the same bytes."""
        from safetensors.numpy import save

        # One metadata entry only: safetensors does not fix the order of several.
        header: dict[str, Any] = {"format": FORMAT, "card": dict(self.card)}
        if self.actions != Actions((self.action_dim,)):
            header["actions"] = asdict(self.actions)
        text = json.dumps(header, sort_keys=True)
        write_atomically(Path(path), save(self.arrays(), metadata={"rilco": text}))

    def __repr__(self) -> str:
        sizes = [self.obs_dim, *(int(weight.shape[1]) for weight, _ in self.layers)]
        name = self.card.get("task") or self.card.get("env") or "?"
        return f"Policy({name}, {' -> '.join(map(str, sizes))})"


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Load a policy from a policy file or a run folder (its best policy). Needs only NumPy and safetensors."""
    file = Path(path)
    if file.is_dir():
        candidates = [file / "policy" / "best.safetensors", file / "policy" / "last.safetensors"]
        found = next((candidate for candidate in candidates if candidate.exists()), None)
        if found is None:
            raise RunError(
                f"{file}: no policy in this folder; expected policy/best.safetensors or "
                "policy/last.safetensors. A run writes them at its first evaluation or checkpoint."
            )
        file = found
    return _read_policy(file)


def _read_policy(file: Path) -> Policy:
    from safetensors import SafetensorError, safe_open

    if not file.exists():
        raise RunError(f"{file}: no such policy file.")
    try:
        with safe_open(file, framework="numpy") as opened:
            header = json.loads((opened.metadata() or {}).get("rilco", "{}"))
            table = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise RunError(f"{file}: not a readable policy file ({error}).") from error
    if header.get("format") != FORMAT:
        raise RunError(
            f"{file}: expected a policy of format {FORMAT!r}, found {header.get('format')!r}; "
            "it was not written by this version of rilco."
        )
    try:
        actions = Actions.from_json(header["actions"]) if "actions" in header else AS_THEY_ARE
        return Policy.from_arrays(table, header.get("card"), actions)
    except KeyError as error:
        raise RunError(f"{file}: the policy lacks the array {error}; the file is damaged.") from error
    except (AttributeError, TypeError) as error:
        raise RunError(
            f"{file}: its actions are described by {header['actions']!r}, which is damaged."
        ) from error
