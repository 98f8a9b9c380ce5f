"""Every number that an audit with a simulator uses, beside those of the offline judges."""

from __future__ import annotations

from dataclasses import dataclass, field

from rilco.data.mixing import RUN_LENGTH
from rilco.judging.config import JudgingConfig


@dataclass(frozen=True)
class AuditConfig:
    """How an audit judges. Stored with every audit.

    Distances between scores are in units of the way from the learner's mean score up to the majority's.
    """

    judges: JudgingConfig = field(default_factory=JudgingConfig, repr=False)
    """Of the judges that need no simulator."""
    alone: float = 0.85
    """Most confidence where RIL-Co's classifiers alone see something. By themselves they were sure and wrong on four of
    eight mixtures outside of the paper's."""

    # -- training
    stretch_transitions: int = 32_000
    """About so many transitions make a stretch of training."""
    forming: int = 4
    """Stretches at the beginning that never count: until the learner has outgrown the worst demonstrators, these may
    score above the expert, and steadily."""
    stretches: int = 2
    """Scores are averaged over so many stretches."""
    most_stretches: int = 12
    """If the separation has not formed after so many, the classifiers abstain."""
    scorings: int = 5
    """How often the demonstrations are scored in a stretch."""
    most_learner_spread: float = 3.0
    """The learner's actions may spread so many times as wide as the data's. Beyond, it still acts at random."""

    # -- scores
    window_pairs: int = RUN_LENGTH
    """Pairs in a window: as many as the paper's noise protocol takes from a non-expert at a stretch."""
    telling_pairs: int = 15
    """So many of a window's pairs make its score, the best: an expert's first steps look like a beginner's, but a
    beginner has no stride like an expert's."""
    around: int = 5
    """A pair's score is a mean with so many pairs before and after it: within a stride, scores swing."""

    # -- the cut
    least_separation: float = 0.03
    """Kinds whose scores lie closer than this are not told apart."""
    least_spread: float = 0.012
    """An expert's demonstrations differ by so much, however alike the ones at hand are."""
    least_evidence: float = 10.0
    """Two kinds must explain the scores better than one by so much of the Bayesian information criterion."""
    least_unit: float = 1.0
    """The unit is no shorter than this, where the learner has caught up: a classifier's slope is about 1."""
    unsure: float = 0.1
    """A demonstration that has at least this probability of either kind is called neither."""
    doubt: float = 0.01
    """The cut is looked for where either kind has at least this probability."""
    rounds: int = 200
    """Of expectation-maximisation, at most."""
    most_wider_gap: float = 2.0
    """A gap below the cut may be so many times as wide as the one at the cut. Beyond, what lies between the two gaps is
    near the good and far from the rest, and stays undecided."""

    # -- whether to believe it
    agreement: float = 0.95
    """Decisions by single stretches must agree with that by all on so many of the pairs."""
    outside: float = 0.01
    """If more than this share of the pairs scores far above the majority, the majority is not the best there is."""
    most_spread: float = 0.15
    """Scores of one kind have at most this standard deviation."""
    most_uneven: float = 0.03
    """While what is taken for good spreads by more than this, others may be among it, and training goes on ..."""
    patience: int = 4
    """... for so many stretches. After that, it is the expert who is uneven."""
    most_doubtful: float = 0.1
    """If more than this share of the pairs may well be of either kind, no cut is made."""
