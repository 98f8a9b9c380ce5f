"""What is known before judging and training is said before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rilco.data.formats import save_demonstrations, target_format
from rilco.data.inspect import digests
from rilco.data.record import Demonstrations
from rilco.errors import AuditError, ConfigError, RilcoError
from rilco.files import scratch
from rilco.judging.config import JudgingConfig
from rilco.words import plural

if TYPE_CHECKING:
    from rilco.tasks.table import Task

ABSURD = 1e12
"""No sensor says so much. Classifiers square observations in float32, which ends at 1e38."""


def check_demonstrations(demos: Demonstrations, config: JudgingConfig) -> tuple[str, ...]:
    """Raises AuditError where nothing could be judged; returns what a reader should know all the same."""
    _, length = np.unique(demos.episode, return_counts=True)
    if len(length) == 1:
        raise AuditError(
            f"There is only one demonstration, of {len(demos):,} pairs, and nothing to compare it with. Give more "
            "demonstrations. If the file does not say where episodes begin, judge it in pieces: --pieces 50."
        )
    if length.max() < config.min_pairs:
        raise AuditError(
            f"None of the {len(length):,} demonstrations has {config.min_pairs} pairs, the fewest that can be judged; the "
            f"longest has {length.max()}. Does every row have an episode number of its own? Leave the numbers out, and "
            "judge the rows in pieces: --pieces 50."
        )
    long_enough, notes = int((length >= config.min_pairs).sum()), []
    if long_enough < config.min_demonstrations:
        notes.append(
            f"Only {plural(long_enough, 'demonstration')} of at least {config.min_pairs} pairs: too few to compare, so all "
            f"are unsure. Give at least {config.min_demonstrations}, or judge in pieces: --pieces 50."
        )
    elif long_enough < len(length):
        notes.append(
            f"Too short to be judged, and so unsure: {len(length) - long_enough:,} of {len(length):,} demonstrations, of fewer "
            f"than {config.min_pairs} pairs."
        )
    if (demos.action == demos.action[0]).all():
        notes.append(
            "All actions are the same: only where demonstrations go can be judged. Is that the right column?"
        )
    if repeated := len(length) - len(set(digests(demos))):
        notes.append(
            f"Copies of an earlier one, pair for pair: {repeated:,} of {len(length):,} demonstrations. Each is judged once."
        )
    return (*notes, *_absurd(demos))


def _absurd(demos: Demonstrations) -> tuple[str, ...]:
    notes = []
    for word, block in (("observation", demos.obs), ("action", demos.action)):
        size = np.maximum(block.max(0), -block.min(0))
        worst = int(np.argmax(size))
        if size[worst] > ABSURD:
            row = int(np.argmax(np.abs(block[:, worst])))
            notes.append(
                f"{word} {worst} is {block[row, worst]:.3g} in row {row}: no sensor says so. It may stand for a missing "
                "value; leave such pairs out."
            )
    return tuple(notes)


def check_environment(demos: Demonstrations, task: Task) -> tuple[str, ...]:
    """Before RIL-Co trains: do the demonstrations fit the environment? Returns what is odd but can be used."""
    if notes := _absurd(demos):
        raise AuditError(f"{notes[0]} The classifiers cannot learn from it; --offline judges without them.")
    from rilco.data.fitting import as_shown  # here, because an audit without an environment does not need it

    spaces = task.spaces()
    as_shown(demos, task).check_dimensions(spaces.observations.width, spaces.actions.size, task.name)
    low, high = spaces.actions.bounds
    # A policy that samples its actions oversteps the bounds a little; another unit does so by far.
    room = 0.5 * (high - low)
    far = ((demos.action < low - room) | (demos.action > high + room)).any(1)
    if far.mean() < 0.01:
        return ()
    return (
        f"{far.mean():.0%} of the pairs have actions far outside of what {task.name} takes: they go from "
        f"{demos.action.min():.3g} to {demos.action.max():.3g}, and the action space from {np.min(low):.3g} to "
        f"{np.max(high):.3g}. Were they recorded in another unit?",
    )


def check_formats(demos: Demonstrations, targets: Iterable[tuple[str, str]]) -> None:
    """Raises ConfigError unless these demonstrations fit into the formats of the targets: (option, name) each.

    A few are really written, to a place that is removed again.
    """
    few = demos.select(
        np.isin(demos.episode, demos.episode[np.unique(demos.episode, return_index=True)[1][:2]])
    )
    for option, name in targets:
        _, known = target_format(name, None)
        with scratch("audit") as folder:
            try:
                save_demonstrations(few, folder / f"trial{known.extensions[-1]}", known.name)
            except RilcoError as error:
                raise ConfigError(
                    f"{option} {name}: the format {known.name} cannot hold these demonstrations. {error} Choose another, "
                    "such as npz."
                ) from error


def plain(name: str) -> str:
    """The name with control characters spelled out, also those that turn the direction of writing."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in name)
