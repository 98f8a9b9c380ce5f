"""Settings that cannot work are refused where they are made, by name and value."""

from __future__ import annotations

from typing import Any

import pytest

from rilco.bc.config import BcConfig
from rilco.clean.config import CleanConfig
from rilco.errors import ConfigError
from rilco.policy.config import AcktrConfig, PpoConfig
from rilco.rewards.config import ClassifierConfig, VildConfig

NAN = float("nan")
REFUSED: dict[type, dict[str, list[Any]]] = {
    ClassifierConfig: {
        "loss": ["zero-one"],
        "lam": [-0.1, 1.1, NAN],
        "lam_schedule": ["steep"],
        "batch": [0],
        "selected": [0],
        "minibatches": [0],
        "candidates": [-1],
        "learning_rate": [0.0],
        "gradient_penalty": [-1.0],
        "hidden": [(100, 0)],
    },
    VildConfig: {
        "learning_rate": [0.0],
        "cloning_steps": [-1],
        "hidden": [(), (8, 0)],
        "log_variance": [-11.0],
        "log_std": [NAN],
        "temperature": [0.0],
    },
    AcktrConfig: {"damping": [0.0], "stat_decay": [1.0]},
    PpoConfig: {
        "learning_rate": [0.0],
        "clip_range": [-0.1],
        "epochs": [0],
        "minibatch_size": [0],
        "max_grad_norm": [NAN],
        "entropy_coef": [-1.0],
        "discount": [1.0],
        "gae_lambda": [1.1],
        "target_kl": [0.0],
        "log_std_init": [float("inf")],
        "log_std_final": [NAN],
    },
    BcConfig: {
        "batch": [0],
        "learning_rate": [0.0],
        "validation": [1.0],
        "weight_decay": [-1.0],
        "farthest": [NAN],
    },
    CleanConfig: {
        "gradient_steps": [0],
        "practice_rounds": [-1],
        "start_weight": [0.0],
        "finish": ["gail-a"],
    },
}
CASES = [
    (config, name, value)
    for config, wrong in REFUSED.items()
    for name, values in wrong.items()
    for value in values
]


@pytest.mark.parametrize(("config", "name", "value"), CASES)
def test_a_setting_that_cannot_work_is_refused(config: type, name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**{name: value})
    part = config.__name__.removesuffix("Config").lower()
    assert f"{part}.{name}: expected" in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    ("config", "settings", "missing"),
    [
        (ClassifierConfig, {"lam_schedule": "linear"}, "lam_iterations"),
        (AcktrConfig, {"learning_rate_decay": True}, "total_updates"),
        (PpoConfig, {"learning_rate_decay": True}, "total_updates"),
        (PpoConfig, {"log_std_final": -1.0}, "total_updates"),
        (BcConfig, {"patience": 3}, "bc.validation is 0"),
    ],
)
def test_a_setting_that_needs_another_says_so(config: type, settings: dict[str, Any], missing: str) -> None:
    with pytest.raises(ConfigError, match=missing):
        config(**settings)
