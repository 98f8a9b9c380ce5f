from __future__ import annotations

import jax
import numpy as np
import pytest

from rilco.errors import ConfigError
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.gail import gail
from rilco.rewards.learner import DemoArrays

CONFIG = ClassifierConfig(batch=8, candidates=16, minibatches=5, hidden=(8,))
PAIRS = DemoArrays(np.ones((30, 2), np.float32), np.ones((30, 1), np.float32))


def test_it_has_one_classifier_and_draws_no_candidates() -> None:
    learner = gail(CONFIG)
    state = jax.eval_shape(lambda key: learner.init(key, 2, 1), jax.random.key(0))
    assert state.params[0]["w"].shape == (1, 3, 8)
    assert learner.sample(PAIRS, np.random.default_rng(0)).obs.shape == (5, 1, 8, 2)


def test_it_reports_no_pseudo_labels() -> None:
    learner = gail(CONFIG, loss="ap")

    def iterate(key):
        draws = learner.sample(PAIRS, np.random.default_rng(0))
        state = learner.init(key, 2, 1)
        return learner.update(state, draws, PAIRS.obs, PAIRS.action, lambda obs: obs, key)

    _, info = jax.eval_shape(iterate, jax.random.key(0))
    assert "risk" in info
    assert not {"selected", "called_nonexpert"} & set(info)


def test_an_unknown_loss_is_refused_when_the_learner_is_built() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'logistic'"):
        gail(CONFIG, loss="logistik")
