"""Demonstrations: state-action pairs of unknown quality."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from typing import Any

import numpy as np

from rilco.data.index import EpisodeIndex
from rilco.errors import DemonstrationError, check_noise_rate
from rilco.words import plural

_LEFT_OUT = np.empty(0, np.int32)
_OPTIONAL = {"reward": np.float32, "terminated": np.bool_, "truncated": np.bool_, "expert": np.bool_}
_PER_PAIR = ("obs", "action", "episode", "demonstrator", *_OPTIONAL)
_NON_FINITE_ALLOWED = ContextVar("non_finite_allowed", default=False)


@dataclass(frozen=True, eq=False, repr=False)
class Demonstrations:
    """State-action pairs and what is known of each; checked when made, and read-only from then on.

    >>> angle = np.linspace(-3.0, 3.0, 600)
    >>> obs = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    >>> rilco.Demonstrations(obs, -obs[:, 1:2], episode=np.repeat(np.arange(12), 50))
    Demonstrations(obs=[600, 3], action=[600, 1], episodes=12, demonstrators=1, known=[])
    """

    obs: np.ndarray
    """[N, obs_dim] float32: what the demonstrator saw, not normalised."""
    action: np.ndarray
    """[N, action_dim] float32: what it did, in the environment's own units. Choices may come as integers, also [N]."""
    _: KW_ONLY
    discrete: bool = False
    """Whether actions are choices and no quantities. Follows from integers in `action`."""
    episode: np.ndarray = field(default_factory=lambda: _LEFT_OUT)
    """[N] int32: which unbroken stretch of acting a pair belongs to. Left out: all are one episode."""
    demonstrator: np.ndarray = field(default_factory=lambda: _LEFT_OUT)
    """[N] int32: who made the pair, an index into `demonstrator_names`. Left out: one made them all."""
    reward: np.ndarray | None = None
    """[N] float32: the environment's own reward, where known. Imitation never sees it."""
    terminated: np.ndarray | None = None
    """[N] bool: the episode ended here for good, where known."""
    truncated: np.ndarray | None = None
    """[N] bool: the episode was cut here, by a time limit for instance, where known."""
    expert: np.ndarray | None = None
    """[N] bool: ground truth, where known. For mixing, and for judging an audit; training never sees it."""
    noise_rate: float | None = None
    """The share of non-expert pairs that was asked for; `noise_fraction` is the share that the data holds."""
    demonstrator_names: tuple[str, ...] = ()
    """A name for each demonstrator: the file that it came from, where it came from one."""
    files: tuple[str, ...] = field(default=(), compare=False)
    """Names of what it was read from, for error messages."""
    where: InitVar[str | None] = None
    """Name of this data in error messages, a path for instance. Not kept."""

    def __post_init__(self, where: str | None) -> None:
        place = where or ", ".join(self.demonstrator_names) or "demonstrations"
        keep = object.__setattr__  # the class is frozen; this is where its values are settled
        keep(self, "obs", _convert(self.obs, np.float32, "obs", place))
        keep(self, "discrete", self.discrete or np.asarray(self.action).dtype.kind in "iub")
        given = _convert(self.action, np.float32, "action", place)
        keep(self, "action", given[:, None] if self.discrete and given.ndim == 1 else given)
        one_for_all = np.zeros(self.obs.shape[:1], np.int32)
        for name in ("episode", "demonstrator"):
            ids = getattr(self, name)
            keep(self, name, _convert(one_for_all if ids is _LEFT_OUT else ids, np.int32, name, place))
        for name, dtype in _OPTIONAL.items():
            if getattr(self, name) is not None:
                keep(self, name, _convert(getattr(self, name), dtype, name, place))
        self.validate(place)
        if not self.demonstrator_names:
            count = int(self.demonstrator.max()) + 1
            keep(self, "demonstrator_names", tuple(f"demonstrator {k}" for k in range(count)))

    def validate(self, where: str = "demonstrations") -> None:
        """Raises DemonstrationError unless shapes agree and every observation and action is finite."""
        for name in ("obs", "action"):
            shape = getattr(self, name).shape
            if len(shape) != 2 or shape[1] == 0:
                raise DemonstrationError(
                    f"{where}: {name} has the shape {list(shape)}; expected [pairs, {name}_dim], with at "
                    "least one dimension. Reshape it so that each row is one pair."
                )
        pairs = len(self.obs)
        if pairs == 0:
            raise DemonstrationError(f"{where}: there is not a single pair; at least one is needed.")
        for name in _PER_PAIR[1:]:
            shape = None if getattr(self, name) is None else getattr(self, name).shape
            expected = (pairs, *self.action.shape[1:]) if name == "action" else (pairs,)
            if shape not in (None, expected):
                raise DemonstrationError(
                    f"{where}: {name} has the shape {list(shape or ())}; expected {list(expected)}, because "
                    f"obs holds {pairs} pairs. All arrays must describe the same pairs: check how they were "
                    "made."
                )
        if not _NON_FINITE_ALLOWED.get():
            _check_finite(self.obs, "obs", where)
            _check_finite(self.action, "action", where)
        if self.discrete and not np.array_equal(self.action, np.rint(self.action), equal_nan=True):
            raise DemonstrationError(
                f"{where}: the actions are said to be choices, but not all of them are whole numbers. Store them as "
                "integers."
            )
        if self.noise_rate is not None:
            check_noise_rate(self.noise_rate)
        # Unnamed demonstrators are numbered from 0, so an id beyond the number of pairs must be a mistake.
        limit = len(self.demonstrator_names) or pairs
        if self.demonstrator.max() >= limit:
            raise DemonstrationError(
                f"{where}: demonstrator holds the id {self.demonstrator.max()}; expected ids from 0 to "
                f"{limit - 1}. Number the demonstrators from 0, and name all of them or none."
            )

    @functools.cached_property
    def index(self) -> EpisodeIndex:
        """The pairs of each episode."""
        return EpisodeIndex.of(self.episode, self.demonstrator)

    @property
    def obs_dim(self) -> int:
        return int(self.obs.shape[1])

    @property
    def action_dim(self) -> int:
        return int(self.action.shape[1])

    @property
    def noise_fraction(self) -> float | None:
        """The true share of non-expert pairs, or None where the ground truth is unknown."""
        return None if self.expert is None else float((~self.expert).mean())

    def __len__(self) -> int:
        return len(self.obs)

    def __repr__(self) -> str:
        known = [name for name in _OPTIONAL if getattr(self, name) is not None]
        noise = "" if self.noise_rate is None else f", noise_rate={self.noise_rate:g}"
        fraction = "" if self.noise_fraction is None else f", noise_fraction={self.noise_fraction:.4g}"
        return (
            f"Demonstrations(obs={list(self.obs.shape)}, action={list(self.action.shape)}, "
            f"episodes={len(self.index)}, demonstrators={len(np.unique(self.demonstrator))}, "
            f"known=[{', '.join(known)}]{noise}{fraction})"
        )

    def select(self, which: np.ndarray | slice | Sequence[int] | Sequence[bool]) -> Demonstrations:
        """The pairs of a mask, of indices, or of a slice (then without a copy); ids and names stay."""
        index = which if isinstance(which, slice) or len(which) == 0 else np.asarray(which)
        arrays = {name: getattr(self, name) for name in _PER_PAIR}
        try:
            chosen: dict[str, Any] = {name: None if a is None else a[index] for name, a in arrays.items()}
        except IndexError as error:
            raise DemonstrationError(
                f"select: {error}; expected a mask [{len(self)}], rows from 0 to {len(self) - 1}, or a slice."
            ) from error
        return replace(self, **chosen, noise_rate=None, where="selected demonstrations")

    def episodes(self) -> Iterator[Demonstrations]:
        """Each episode by itself, in order of first appearance; a view where its pairs are adjacent."""
        for k in self.index.by_appearance.tolist():
            yield self.select(self.index.rows(k))

    def check_dimensions(self, obs_dim: int, action_dim: int, env_name: str) -> None:
        """Raises DemonstrationError unless these demonstrations fit the environment."""
        ours, theirs = (self.obs_dim, self.action_dim), (obs_dim, action_dim)
        if ours != theirs:
            raise DemonstrationError(
                f"{source_names(self)}: a pair has {ours[0]} observation and {ours[1]} action dimensions, but "
                f"{env_name} has {theirs[0]} and {theirs[1]}. These demonstrations come from another "
                "environment: choose that one, or other demonstrations."
            )

    def fingerprint(self) -> str:
        """SHA-256 of what training reads: observations, actions and demonstrators, and nothing else."""
        digest = hashlib.sha256(b"rilco demonstrations 1")
        for array, dtype in ((self.obs, "<f4"), (self.action, "<f4"), (self.demonstrator, "<i4")):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array, dtype).data)
        return digest.hexdigest()


@contextlib.contextmanager
def non_finite_allowed() -> Iterator[None]:
    """Within it, demonstrations may hold NaN and infinite values: for looking at damaged data only."""
    token = _NON_FINITE_ALLOWED.set(True)
    try:
        yield
    finally:
        _NON_FINITE_ALLOWED.reset(token)


def concatenate(parts: Sequence[Demonstrations]) -> Demonstrations:
    """All pairs in order, episodes and demonstrators renumbered so that no two parts share an id.

    What is not known of every part is not known of the whole.
    """
    if not parts:
        raise DemonstrationError("There are no demonstrations to put together. Give at least one file.")
    if len(parts) == 1:
        return parts[0]
    episode, demonstrator, episodes, makers = [], [], 0, 0
    for part in parts:
        mine, first = (
            f"{one.obs_dim} observation and {one.action_dim} action dimensions, of "
            + ("choices (integers)" if one.discrete else "quantities")
            for one in (part, parts[0])
        )
        if mine != first:
            raise DemonstrationError(
                f"{source_names(part)}: a pair has {mine}, but {first} in {source_names(parts[0])}. "
                "Demonstrations that are used together must come from the same environment."
            )
        episode.append(part.index.number + episodes)
        demonstrator.append(part.demonstrator + makers)
        episodes, makers = episodes + len(part.index), makers + len(part.demonstrator_names)
    known: dict[str, Any] = {}
    for name in _OPTIONAL:
        arrays = [getattr(part, name) for part in parts]
        known[name] = None if any(array is None for array in arrays) else np.concatenate(arrays)
    return Demonstrations(
        np.concatenate([part.obs for part in parts]),
        np.concatenate([part.action for part in parts]),
        discrete=parts[0].discrete,
        episode=np.concatenate(episode),
        demonstrator=np.concatenate(demonstrator),
        demonstrator_names=tuple(name for part in parts for name in part.demonstrator_names),
        files=tuple(file for part in parts for file in part.files),
        **known,
    )


def by_episode(demos: Demonstrations) -> Demonstrations:
    """The same pairs, each episode a demonstrator of its own."""
    names = tuple(f"episode {id}" for id in demos.index.ids)
    return replace(demos, demonstrator=demos.index.number, demonstrator_names=names)


def source_names(demos: Demonstrations) -> str:
    """Name in error messages: up to three files, or demonstrators."""
    names = demos.files or demos.demonstrator_names
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _convert(values: Any, dtype: Any, name: str, where: str) -> np.ndarray:
    """A read-only array of the right type, or an error that says what came instead."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise DemonstrationError(
            f"{where}: {name} is not a regular array ({error}). Give all rows the same length."
        ) from error
    kind = np.dtype(dtype).kind
    if array.dtype.kind not in {"f": "fiub", "i": "iu", "b": "biu"}[kind]:
        wanted = {"f": "numbers", "i": "whole numbers", "b": "true and false"}[kind]
        raise DemonstrationError(
            f"{where}: {name} has the type {array.dtype}; expected {wanted}. Arrays of objects, text or "
            "complex numbers cannot be used: store plain numbers."
        )
    top = {"f": np.inf, "i": np.iinfo(np.int32).max, "b": 1}[kind]
    if kind != "f" and array.size and (array.min() < 0 or array.max() > top):
        raise DemonstrationError(
            f"{where}: {name} holds values from {array.min()} to {array.max()}; expected 0 to {top}. "
            "Renumber them."
        )
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite, and is refused as that
        array = array.astype(dtype, copy=False).view()
    array.flags.writeable = False
    return array


def _check_finite(array: np.ndarray, name: str, where: str) -> None:
    finite = np.isfinite(array)
    if finite.all():
        return
    row, dimension = np.unravel_index(int(np.argmin(finite)), array.shape)
    count = int((~finite).sum())
    raise DemonstrationError(
        f"{where}: {name} holds {plural(count, 'value')} that {'is' if count == 1 else 'are'} NaN or infinite as float32; the first "
        f"is {array[row, dimension]} in row {row}, dimension {dimension}. Every value must be finite: leave "
        "these pairs out or fix them."
    )
