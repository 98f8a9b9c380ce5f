"""Settings of the policy learners. Checked without JAX, so that reading a run does not import it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rilco.errors import ConfigError, check_fields


@dataclass(frozen=True)
class AcktrConfig:
    """ACKTR's hyper-parameters; the defaults are the published setting."""

    hidden_sizes: tuple[int, ...] = (64, 64)
    """Widths of the tanh hidden layers, in the actor and in the critic."""
    learning_rate: float = 0.25
    """K-FAC's step size before the trust region; also the one that the trust region is computed with."""
    momentum: float = 0.9
    """Momentum of the SGD after preconditioning; its step size is learning_rate * (1 - momentum)."""
    discount: float = 0.99
    """Worth of the next step's reward in terms of this one's."""
    entropy_coef: float = 0.01
    """Weight of the entropy bonus; the entropy is the mean over action dimensions."""
    value_coef: float = 0.5
    """Weight of the mean squared value error."""
    damping: float = 0.01
    """Added to every product of eigenvalues: to the diagonal of the whole Kronecker product."""
    kl_clip: float = 0.001
    """Largest learning_rate^2 * v.grad: twice the KL that the quadratic model predicts for a full step."""
    stat_decay: float = 0.99
    """Weight of the past in the running Kronecker factors."""
    eigen_interval: int = 10
    """Updates between eigendecompositions of the factors."""
    learning_rate_decay: bool = False
    """Whether the step shrinks linearly to zero over `total_updates`; the trust region keeps its size."""
    total_updates: int = 0
    """Length of that decay; needed only with `learning_rate_decay`."""

    def __post_init__(self) -> None:
        positive = ("learning_rate", "damping", "kl_clip", "eigen_interval")
        check_fields(self, "a positive number", lambda value: value > 0, *positive)
        check_fields(self, "positive widths", lambda widths: min(widths, default=1) >= 1, "hidden_sizes")
        shares = ("momentum", "discount", "stat_decay")
        check_fields(self, "at least 0 and less than 1", lambda value: 0 <= value < 1, *shares)
        if self.learning_rate_decay and self.total_updates <= 0:
            raise ConfigError(
                f"acktr.learning_rate_decay: needs acktr.total_updates, which is {self.total_updates}. Set it to the "
                "number of iterations over which the learning rate falls to zero, or turn the decay off."
            )


@dataclass(frozen=True)
class PpoConfig:
    """PPO's hyper-parameters; the defaults suit rollouts of 2048 to 8192 transitions."""

    hidden_sizes: tuple[int, ...] = (64, 64)
    """Widths of the tanh hidden layers, in the actor and in the critic."""
    learning_rate: float = 3e-4
    """Adam's step size."""
    discount: float = 0.99
    """Worth of the next step's reward in terms of this one's."""
    gae_lambda: float = 0.95
    """From 0, advantages rely on the critic, to 1, they rely on rewards alone."""
    clip_range: float = 0.2
    """A step's probability ratio gains nothing by leaving 1 +- this."""
    epochs: int = 10
    """Passes over a rollout."""
    minibatch_size: int = 256
    """Transitions in a gradient step, at most: an epoch is cut into equal minibatches no larger than this."""
    entropy_coef: float = 0.0
    """Weight of the entropy bonus; the entropy is the mean over action dimensions."""
    value_coef: float = 0.5
    """Weight of the mean squared value error."""
    max_grad_norm: float = 0.5
    """Longer gradients, over all parameters of both networks, are shortened to this norm."""
    target_kl: float | None = None
    """Ends the epochs at the first minibatch where the new policy is further than this from the old; None: never."""
    log_std_init: float = -1.0
    """Log standard deviation of the first policy, in units of the actions (`rilco.tasks.actions`)."""
    log_std_final: float | None = None
    """None learns the log standard deviation; a number moves it there linearly over `total_updates` instead."""
    learning_rate_decay: bool = False
    """Whether the step size shrinks linearly to zero over `total_updates`."""
    total_updates: int = 0
    """Length of the schedules in calls of `update`, one a rollout; needed only with a schedule."""

    def __post_init__(self) -> None:
        positive = ("learning_rate", "clip_range", "epochs", "minibatch_size", "max_grad_norm")
        check_fields(self, "a positive number", lambda value: value > 0, *positive)
        check_fields(self, "positive widths", lambda widths: min(widths, default=1) >= 1, "hidden_sizes")
        check_fields(self, "at least 0", lambda value: value >= 0, "entropy_coef", "value_coef")
        check_fields(self, "at least 0 and less than 1", lambda value: 0 <= value < 1, "discount")
        check_fields(self, "from 0 to 1", lambda value: 0 <= value <= 1, "gae_lambda")
        check_fields(
            self, "a positive number, or None", lambda value: value is None or value > 0, "target_kl"
        )
        check_fields(self, "a finite number", math.isfinite, "log_std_init")
        if self.log_std_final is not None:
            check_fields(self, "a finite number, or None", math.isfinite, "log_std_final")
        if (self.learning_rate_decay or self.log_std_final is not None) and self.total_updates <= 0:
            raise ConfigError(
                "ppo.learning_rate_decay and ppo.log_std_final: need ppo.total_updates, which is "
                f"{self.total_updates}. Set it to the number of iterations, or do without the schedule."
            )
