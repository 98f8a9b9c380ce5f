"""Settings of behaviour cloning. Checked without JAX, so that reading a run does not import it."""

from __future__ import annotations

from dataclasses import dataclass

from rilco.errors import ConfigError, check_fields


@dataclass(frozen=True)
class BcConfig:
    """Behaviour cloning's hyper-parameters; the defaults are the paper's."""

    hidden_sizes: tuple[int, ...] = (64, 64)
    """Widths of the tanh hidden layers; none makes the policy linear."""
    learning_rate: float = 1e-3
    """Adam's step size."""
    decay_steps: int = 0
    """Gradient steps over which the step size falls to zero, as half a cosine; 0 keeps it."""
    batch: int = 128
    """Pairs in a mini-batch, drawn with replacement."""
    steps_per_iteration: int = 5
    """Gradient steps that stand for one iteration of the other methods."""
    weight_decay: float = 0.0
    """Share of every weight that is taken off in a gradient step, times the learning rate (AdamW)."""
    average_over: int = 0
    """Gradient steps over which the policy's weights are averaged, exponentially; 0 takes the last weights."""
    start_weight: float = 1.0
    """Weight of an episode's first pairs; the others weigh 1. Starts are few and differ most, so clones fall there."""
    start_steps: int = 150
    """Pairs at the start of an episode that `start_weight` is for."""
    farthest: float = 0.0
    """Deviations from the mean at which the farthest demonstrated value of each observation lies, at most. Observations are
    clipped at 10 of them, and rare ones, such as those of a start, would all look the same. 0 takes the deviations as they are."""
    validation: float = 0.0
    """Share of the episodes that is held out to measure the loss on. Of a single episode, consecutive pairs are. 0 trains
    on everything: of ten episodes, the tenth made Walker2D fall less often."""
    patience: int = 0
    """Validations, one every 100 iterations, without a new lowest loss after which training stops. The policy is
    then the one with the lowest loss. 0 never stops early, and takes the last weights."""

    def __post_init__(self) -> None:
        positive = ("learning_rate", "batch", "steps_per_iteration", "start_weight", "start_steps")
        check_fields(self, "a positive number", lambda value: value > 0, *positive)
        check_fields(self, "positive widths", lambda widths: min(widths, default=1) >= 1, "hidden_sizes")
        counts = ("decay_steps", "weight_decay", "average_over", "farthest", "patience")
        check_fields(self, "0 or more", lambda value: value >= 0, *counts)
        check_fields(self, "at least 0 and less than 1", lambda value: 0 <= value < 1, "validation")
        if self.patience and not self.validation:
            raise ConfigError(
                f"bc.patience is {self.patience}, but bc.validation is 0: stopping early needs held-out pairs to "
                "tell when. Set bc.validation, to 0.1 for example, or leave bc.patience at 0."
            )
