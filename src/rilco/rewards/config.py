"""Settings of the reward learners. Checked without JAX, so that reading a run does not import it."""

from __future__ import annotations

import dataclasses

from rilco.errors import check_choice, check_fields

LOSSES = ("logistic", "hinge", "sigmoid", "unhinged", "normalized-logistic", "normalized-hinge", "ap")
"""Names of margin losses; `rilco.losses` has what they are."""
SCHEDULES = ("constant", "linear", "cosine", "warm-up")
"""Names of schedules of lambda; `classifier.py` has what they are."""
LOG_VARIANCE_RANGE = (-10.0, 10.0)
LOG_STD_RANGE = (-5.0, 2.0)
"""Where the two spreads stay: nothing else keeps 1/C finite where the data show no noise at all."""


@dataclasses.dataclass(frozen=True)
class ClassifierConfig:
    """Hyper-parameters shared by every method that trains classifiers; the defaults are the paper's."""

    loss: str = "ap"
    """Margin loss, a name in `rilco.losses.LOSSES`."""
    lam: float = 0.5
    """Weight of non-expert pairs, pseudo-labelled or known, against the policy's; 0 leaves them out."""
    lam_schedule: str = "constant"
    """How `lam` comes about: "constant", "linear" or "cosine" growth from 0, or 0 at first ("warm-up")."""
    lam_iterations: int = 0
    """Iterations until `lam` is reached; needed by every schedule but the constant one."""
    pseudo_labels: bool = True
    """Whether demonstrations are pseudo-labelled; without, only known non-expert pairs weigh `lam`."""
    as_published: bool = False
    """RIL-P as the authors' code has it: all candidates, with no gradient through the term's scores."""
    batch: int = 128
    """Demonstration pairs in a mini-batch (the first term of the risk)."""
    candidates: int = 640
    """Further demonstration pairs in a mini-batch that may be pseudo-labelled (U and V in Algorithm 1)."""
    selected: int = 128
    """Most candidates that are pseudo-labelled as non-expert (K in Algorithm 1)."""
    minibatches: int = 5
    """Adam steps an iteration; the policy's pairs are dealt out among them."""
    learning_rate: float = 1e-3
    """Adam's step size."""
    gradient_penalty: float = 10.0
    """Weight of the penalty on input gradients whose norm is not 1."""
    hidden: tuple[int, ...] = (100, 100)
    """Widths of the tanh layers."""

    def __post_init__(self) -> None:
        check_choice("classifier.loss", self.loss, LOSSES)
        check_choice("classifier.lam_schedule", self.lam_schedule, SCHEDULES)
        check_fields(self, "between 0 and 1", lambda value: 0.0 <= value <= 1.0, "lam")
        check_fields(self, "at least 1", lambda value: value >= 1, "batch", "selected", "minibatches")
        counts = ("lam_iterations", "candidates", "gradient_penalty")
        check_fields(self, "0 or more", lambda value: value >= 0, *counts)
        if self.lam_schedule != "constant":
            check_fields(self, "1 or more with a schedule", lambda value: value > 0, "lam_iterations")
        check_fields(self, "a positive number", lambda value: value > 0, "learning_rate")
        check_fields(self, "positive widths", lambda widths: all(width >= 1 for width in widths), "hidden")

    @property
    def uses_pseudo_labels(self) -> bool:
        """Whether any candidate can enter the risk; without them the method is GAIL with this loss."""
        return self.pseudo_labels and self.lam > 0 and self.candidates > 0


@dataclasses.dataclass(frozen=True)
class VildConfig:
    """Hyper-parameters of the model of demonstrators; the classifier has its own."""

    learning_rate: float = 3e-4
    """Adam's step size for noise and inference."""
    cloning_steps: int = 1000
    """Steps of behaviour cloning that the inference net starts with."""
    hidden: tuple[int, ...] = (100, 100)
    """Widths of the inference net's tanh layers."""
    log_variance: float = -1.0
    """Where the log-variance of every demonstrator's noise starts."""
    log_std: float = -1.0
    """Where the log standard deviation of inferred actions starts."""
    temperature: float = 1.0
    """Divisor of the reward in the bound: the lower, the more inference trusts the classifier."""

    def __post_init__(self) -> None:
        check_fields(self, "a positive number", lambda value: value > 0, "learning_rate", "temperature")
        check_fields(self, "0 or more", lambda value: value >= 0, "cloning_steps")
        check_fields(self, "positive widths", lambda widths: widths and min(widths) >= 1, "hidden")
        least, most = LOG_VARIANCE_RANGE
        check_fields(self, f"{least:g} to {most:g}", lambda value: least <= value <= most, "log_variance")
        low, high = LOG_STD_RANGE
        check_fields(self, f"{low:g} to {high:g}", lambda value: low <= value <= high, "log_std")
