"""A policy that acts with NumPy alone: what workers run, what a run folder keeps, what users deploy."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rilco.errors import ConfigError, RunError
from rilco.files import write_atomically
from rilco.runs.paths import policy_file
from rilco.tasks.actions import AS_THEY_ARE, Actions
from rilco.tasks.observations import Observations
from rilco.tasks.robots import ROBOTS

OBS_CLIP = 10.0
OBS_EPSILON = 1e-8
FORMAT = "rilco-policy-1"
_HUGE = float(np.finfo(np.float32).max)
LADDERS = (*ROBOTS, "hopper-matched")  # that come with rilco
HEADER = {"format", "card", "actions", "sha256"}  # of which files of the first version have only two


@dataclass(frozen=True, repr=False)
class Policy:
    """Normalised observation -> tanh network -> a mean action beside a fixed log-std, or logits of choices.

    >>> policy = rilco.load_policy("hopper#1")
    >>> policy.predict(np.zeros(15)).shape, policy.predict(np.zeros((8, 15)), deterministic=False).shape
    ((3,), (8, 3))
    >>> policy.save("copy.safetensors")
    """

    obs_mean: np.ndarray  # [obs_dim]
    obs_var: np.ndarray  # [obs_dim]
    layers: Sequence[tuple[np.ndarray, np.ndarray]]  # (weight [in, out], bias [out]), head last
    log_std: np.ndarray  # [action_dim]; of choices [0]
    card: Mapping[str, Any] = field(default_factory=dict)
    """Where the policy comes from: task, method, seed, transitions, return."""
    actions: Actions = AS_THEY_ARE
    """Meaning of the outputs; by default they are the environment's actions."""
    file: str = ""
    """Where it was read from; empty where it was made in memory."""

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
        obs: Any,
        *,
        deterministic: bool = True,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """Actions for one observation [obs_dim] or many [n, obs_dim]; sampled when not deterministic.

        A run's policy also takes observations as its environment gives them: numbers of discrete spaces, dictionaries,
        and dictionaries of [n, ...]. Actions are in the environment's own units, bounds and shape, and whole numbers
        where they are choices. There is no state to return beside them, as Stable-Baselines3's `predict` does.
        """
        flat = self._flatten(obs)
        output = self.mean(np.atleast_2d(flat))
        noise = None if deterministic else self.actions.noise(rng or np.random.default_rng(), len(output))
        written = self.actions.act(output, noise, np.exp(self.log_std))
        action = self.actions.shaped(self.actions.clip(self.actions.decode(written)))
        return np.asarray(action[0]) if flat.ndim == 1 else action

    def _flatten(self, obs: Any) -> np.ndarray:
        """[obs_dim] or [n, obs_dim] float32."""
        parts = self.card.get("observations") or ()
        if isinstance(obs, Mapping) and not parts:
            raise ValueError(
                "predict: this policy knows no names of observations; expected an array. `rilco.Task(env=...).flatten(obs)` "
                "makes one; a policy that is trained or cloned with env= takes dictionaries."
            )
        numbers = not any(part["name"] for part in parts)
        if parts and (isinstance(obs, Mapping) or (numbers and np.shape(obs)[-1:] != (self.obs_dim,))):
            obs = Observations.from_json(parts).flatten_batch(obs, "predict")
        flat = np.asarray(obs, np.float32)
        if flat.ndim not in (1, 2) or flat.shape[-1] != self.obs_dim:
            raise ValueError(
                f"predict: expected observations of shape ({self.obs_dim},) or (n, {self.obs_dim}), "
                f"got {flat.shape}"
            )
        return flat

    def written_as(self, actions: Actions) -> Policy:
        """The same policy, whose network writes quantities in the units of `actions`. Itself, where these are no such."""
        ours = self.actions
        if ours.size != actions.size or ours.choices != actions.choices or 0.0 in actions.scale:
            return self
        if ours.choices:
            return replace(self, actions=actions) if ours.origin == actions.origin else self
        (zero, unit), (new_zero, new_unit) = ours.units, actions.units
        weight, bias = self.layers[-1]
        head = (weight * (unit / new_unit), (bias * unit + zero - new_zero) / new_unit)
        return replace(
            self,
            layers=[*self.layers[:-1], head],
            log_std=self.log_std + np.log(unit / new_unit),
            actions=actions,
        )

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
        table = self.arrays()
        header: dict[str, Any] = {"format": FORMAT, "card": dict(self.card)}
        if self.actions != Actions((self.action_dim,)) or any(self.actions.bounded):
            header["actions"] = asdict(self.actions)
        header["sha256"] = _digest(table, header)
        write_atomically(Path(path), save(table, metadata={"rilco": json.dumps(header, sort_keys=True)}))

    def __repr__(self) -> str:
        sizes = [self.obs_dim, *(int(weight.shape[1]) for weight, _ in self.layers)]
        name = self.card.get("task") or self.card.get("env") or "?"
        return f"Policy({name}, {' -> '.join(map(str, sizes))})"


def _digest(table: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> str:
    """SHA-256 of the weights, their names and shapes, the card, and the kind of actions where it is written."""
    shapes = {name: (array.shape, str(array.dtype)) for name, array in table.items()}
    words = [shapes, header.get("card"), *([header["actions"]] if "actions" in header else [])]
    digest = hashlib.sha256(json.dumps(words, sort_keys=True).encode())
    for name in sorted(table):
        digest.update(table[name].tobytes())
    return digest.hexdigest()


def shipped_name(source: str | os.PathLike[str]) -> tuple[str, int] | None:
    """Ladder and rung (1 is the expert) of a policy that comes with rilco, named as `ant#1`; a file goes first."""
    match = re.fullmatch(r"([\w-]+)#(\d+)", os.fspath(source))
    return None if match is None or Path(source).exists() else (match[1], int(match[2]))


def shipped_file(ladder: str, rung: int) -> Path:
    """The file of a policy that comes with rilco."""
    file = Path(__file__).parents[1] / "data" / "snapshots" / ladder / f"{rung}.safetensors"
    if not file.exists():
        raise ConfigError(
            f"No snapshot {rung} of {ladder} comes with rilco; there are 1 to 6 of {', '.join(LADDERS)}."
        )
    return file


def shipped_rung(ladder: str, rung: int) -> tuple[Policy, Mapping[str, Any]]:
    """A policy that comes with rilco and its card; rung 1 is the expert."""
    file = shipped_file(ladder, rung)
    return load_policy(file), json.loads(file.with_suffix(".json").read_text())


def load_policy(source: Policy | str | os.PathLike[str]) -> Policy:
    """A policy from a run or its folder (its best), a policy file, or one that comes with rilco, such as `hopper#1`. A
    `Policy` is given back.

    Needs NumPy and safetensors, and not JAX.

        >>> rilco.load_policy("hopper#1")
        Policy(hopper, 15 -> 64 -> 64 -> 3)
    """
    if isinstance(source, Policy):
        return source
    shipped = shipped_name(source)
    file = Path(source) if shipped is None else shipped_file(*shipped)
    if file.is_dir():
        candidates = [policy_file(file, name) for name in ("best", "last")]
        found = next((candidate for candidate in candidates if candidate.exists()), None)
        if found is None:
            raise RunError(
                f"{file}: no policy in this folder; expected {' or '.join(map(str, candidates))}. A run writes them "
                "at its first evaluation or checkpoint."
            )
        file = found
    return _read_policy(file)


def _read_policy(file: Path) -> Policy:
    from safetensors import safe_open

    if not file.is_file():
        raise RunError(f"{file}: no such policy file.")
    try:
        with safe_open(file, framework="numpy") as opened:
            header = json.loads((opened.metadata() or {}).get("rilco", "{}"))
            table = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except Exception as error:  # damaged bytes: safetensors, json and NumPy raise a dozen types
        raise RunError(
            f"{file}: not a readable policy file ({' '.join(str(error).split())[:200]})."
        ) from error
    header = header if isinstance(header, dict) else {}
    if header.get("format") != FORMAT:
        raise RunError(
            f"{file}: expected a policy of format {FORMAT!r}, found {header.get('format')!r}; "
            "it was not written by this version of rilco."
        )
    if set(header) - HEADER or header.get("sha256", "") not in ("", _digest(table, header)):
        raise RunError(
            f"{file}: does not match its checksum; it was changed after it was written. Restore it."
        )
    try:
        actions = Actions.from_json(header["actions"]) if "actions" in header else AS_THEY_ARE
        complaint = _complaint(table, actions) or _complaint_of_card(
            header.get("card"), len(table["obs_mean"])
        )
    except ValueError as error:
        complaint = str(error)
    if complaint:
        raise RunError(f"{file}: {complaint}. The file is damaged, or not a policy: write or copy it again.")
    return replace(Policy.from_arrays(table, header["card"], actions), file=str(file))


def _complaint(table: Mapping[str, np.ndarray], actions: Actions) -> str | None:
    """Why the arrays cannot act, or None: a policy that is loaded never gives anything but finite actions."""
    count = max(1, sum(name.endswith(".weight") for name in table))
    layers = [(f"layer{i}.weight", f"layer{i}.bias") for i in range(count)]
    expected = {"obs_mean", "obs_var", "log_std", *(name for layer in layers for name in layer)}
    if expected != set(table):
        return f"the policy has the arrays {sorted(table)[:9]}; expected {sorted(expected)[:9]}"
    for name, array in table.items():
        ndim = 2 if name.endswith(".weight") else 1
        empty = array.size == 0 and not (name == "log_std" and actions.choices)
        if array.dtype != np.float32 or array.ndim != ndim or empty or not np.isfinite(array).all():
            return (
                f"{name} has the type {array.dtype} and the shape {list(array.shape)}, or values that are not finite; "
                f"expected finite float32 in {ndim} dimensions"
            )
    widths = [len(table["obs_mean"]), *(len(table[bias]) for _, bias in layers)]
    spread = 0 if actions.choices else widths[-1]
    if table["obs_var"].shape != (widths[0],) or table["log_std"].shape != (spread,):
        return "obs_var is not as long as obs_mean, or log_std not as the last bias"
    if actions.width not in (0, widths[-1]):
        return f"its actions have {actions.width} numbers, and the last bias {widths[-1]}"
    if (table["obs_var"] < 0).any():
        return "obs_var holds negative variances"
    std = math.exp(min(float(table["log_std"].max(initial=-np.inf)), 700.0))
    unit, origin = max((1.0, *actions.scale)), max((0.0, *map(abs, actions.origin)))
    largest = OBS_CLIP  # of what goes into a layer: tanh gives 1 at most
    for (weight, bias), shape in zip(layers, itertools.pairwise(widths), strict=True):
        if table[weight].shape != shape:
            return f"{weight} has the shape {list(table[weight].shape)}; expected {list(shape)}"
        sums = largest * np.abs(table[weight]).sum(axis=0, dtype=np.float64) + np.abs(table[bias])
        largest = 1.0
        if max(float(sums.max()), std) * unit + origin > _HUGE:
            return f"{weight}, {bias}, log_std or their unit is so large that actions would be infinite"
    return None


def _complaint_of_card(card: Any, obs_dim: int) -> str | None:
    """The card is optional in what it says, and names are texts."""
    if not isinstance(card, dict):
        return f"the card is {type(card).__name__}; expected a table"
    for name in ("task", "env", "method"):
        if not isinstance(card.get(name), str | None):
            return f"{name} on the card is {type(card[name]).__name__}; expected a text"
    keys = card.get("obs_keys", [])
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        return f"obs_keys on the card are {str(keys)[:100]}; expected a list of texts"
    if Observations.from_json(card.get("observations", [])).width not in (0, obs_dim):
        return f"the observations on the card have other than {obs_dim} numbers"
    if not isinstance(card.get("env_kwargs", {}), dict):
        return f"env_kwargs on the card is {type(card['env_kwargs']).__name__}; expected a table"
    return None
