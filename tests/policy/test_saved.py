"""Policy files: what was saved comes back, and a file that could not act is refused when it is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from rilco.errors import RilcoError, RunError
from rilco.policy.saved import FORMAT, Policy, load_policy
from rilco.tasks.actions import Actions


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "obs_mean": rng.normal(size=3).astype(np.float32),
        "obs_var": np.array([0.0, 1.0, 2.0], np.float32),  # 0: an observation that never changes
        "log_std": np.zeros(2, np.float32),
        "layer0.weight": rng.normal(size=(3, 4)).astype(np.float32),
        "layer0.bias": np.zeros(4, np.float32),
        "layer1.weight": rng.normal(size=(4, 2)).astype(np.float32),
        "layer1.bias": np.zeros(2, np.float32),
    }


def of_actions(**table: Any) -> dict[str, Any]:
    """A header that says what the outputs stand for."""
    return {"format": FORMAT, "card": {}, "actions": table}


def part(**changes: Any) -> dict[str, Any]:
    """An entry of observations on a policy's card."""
    return {"name": "a", "size": 3, "choices": [], "least": [], **changes}


def write(path: Path, card: Any = None, header: Any = None, **changes: Any) -> Path:
    """A policy file with other arrays (None: left out; underscores stand for dots), or another header."""
    table = arrays() | {name.replace("__", "."): values for name, values in changes.items()}
    table = {name: np.asarray(values) for name, values in table.items() if values is not None}
    header = {"format": FORMAT, "card": {} if card is None else card} if header is None else header
    save_file(table, path, {"rilco": header if isinstance(header, str) else json.dumps(header)})
    return path


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    policy = Policy.from_arrays(arrays(), {"task": "ant", "seed": 1})
    policy.save(tmp_path / "a.safetensors")
    back = load_policy(tmp_path / "a.safetensors")
    obs = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_array_equal(back.predict(obs), policy.predict(obs))
    assert back.card == policy.card
    assert load_policy(write(tmp_path / "b.safetensors")).hidden_sizes == (4,)


@pytest.mark.parametrize(
    "actions",
    [Actions((2,), (), (0.0, 7.0), (20.0, 0.5)), Actions((), (2,), (1.0,)), Actions((1, 2))],
    ids=["units", "choices", "shape"],
)
def test_kind_of_actions_comes_back_and_is_part_of_the_checksum(tmp_path: Path, actions: Actions) -> None:
    path, table = tmp_path / "a.safetensors", arrays()
    table["log_std"] = table["log_std"][: actions.spread_width]
    Policy.from_arrays(table, {"task": "ant"}, actions).save(path)
    assert load_policy(path).actions == actions
    with safe_open(path, framework="numpy") as opened:
        header = json.loads(opened.metadata()["rilco"])
    header["actions"]["origin"] = [5.0] * actions.size
    save_file(table, path, {"rilco": json.dumps(header)})
    with pytest.raises(RunError, match="does not match its checksum"):
        load_policy(path)


NAN = np.full((3, 4), np.nan, np.float32)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"layer0__weight": NAN}, "layer0.weight .* values that are not finite"),
        ({"obs_mean": np.full(3, np.inf, np.float32)}, "obs_mean .* not finite"),
        ({"log_std": np.full(2, np.nan, np.float32)}, "log_std .* not finite"),
        ({"obs_var": np.full(3, -1, np.float32)}, "negative variances"),
        ({"obs_var": np.ones(4, np.float32)}, "obs_var is not as long as obs_mean"),
        ({"log_std": np.zeros(3, np.float32)}, "log_std not as the last bias"),
        (
            {"layer0__weight": np.ones((4, 3), np.float32)},
            r"layer0.weight has the shape \[4, 3\]; expected \[3, 4\]",
        ),
        (
            {"layer1__weight": np.ones((3, 2), np.float32)},
            r"layer1.weight has the shape \[3, 2\]; expected \[4, 2\]",
        ),
        ({"layer0__weight": np.ones(12, np.float32)}, "expected finite float32 in 2 dimensions"),
        ({"obs_mean": np.zeros(3)}, "obs_mean has the type float64"),
        ({"obs_mean": np.zeros((3, 1), np.float32)}, "expected finite float32 in 1 dimensions"),
        ({"obs_mean": np.zeros(0, np.float32)}, r"the shape \[0\]"),
        ({"layer0__weight": np.full((3, 4), 1e38, np.float32)}, "so large that actions would be infinite"),
        ({"log_std": np.full(2, 100, np.float32)}, "so large that actions would be infinite"),
        (
            dict.fromkeys(("layer0__weight", "layer0__bias", "layer1__weight", "layer1__bias")),
            "expected .*layer0.bias",
        ),
        ({"log_std": None}, "expected .*log_std"),
        ({"layer7__weight": np.ones((4, 2), np.float32)}, "has the arrays"),
        ({"card": []}, "the card is list; expected a table"),
        ({"card": "ant"}, "the card is str; expected a table"),
        ({"card": {"task": ["ant"]}}, "task on the card is list; expected a text"),
        ({"card": {"obs_keys": "abc"}}, "obs_keys on the card are abc; expected a list of texts"),
        ({"card": {"env_kwargs": [1]}}, "env_kwargs on the card is list; expected a table"),
        ({"card": {"observations": 5}}, "observations are described by 5, which no environment has"),
        ({"card": {"observations": [part(choices=[2])]}}, "which no environment has"),
        ({"card": {"observations": [part(size=-3)]}}, "which no environment has"),
        ({"card": {"observations": [part(size=4)]}}, "on the card have other than 3 numbers"),
        ({"header": of_actions(shape=[2], bounded=[1, 0])}, "which no environment has"),
        ({"header": of_actions(shape=[3])}, "its actions have 3 numbers, and the last bias 2"),
        ({"header": of_actions(shape=[2], scale=[1.0, 1.0])}, "which no environment has"),
        ({"header": of_actions(shape=[2], origin=[0, 0], scale=[0, 1])}, "which no environment has"),
        ({"header": of_actions(shape=[2], origin=[0, 0], scale=[1, "1"])}, "which no environment has"),
        ({"header": of_actions(shape=[2], origin=[0, 0], scale=[1, 1e39])}, "actions would be infinite"),
        ({"header": of_actions(shape=2)}, "which no environment has"),
        ({"header": of_actions(form=[2])}, "which no environment has"),
        ({"header": of_actions(shape=[], choices=[2], origin=[0])}, "log_std not as the last bias"),
        ({"header": []}, "expected a policy of format"),
        ({"header": {"format": FORMAT}}, "the card is NoneType"),
        ({"header": "[" * 100_000}, "not a readable policy file"),
        ({"header": "{"}, "not a readable policy file"),
    ],
)
def test_refuses(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "a.safetensors", **changes)
    with pytest.raises(RunError, match=message) as caught:
        load_policy(path)
    assert str(path) in str(caught.value)


def test_actions_are_within_the_bounds_that_the_environment_has() -> None:
    bounded = Actions((2,), (), (10.0, 0.0), (20.0, 1.0), (True, False))
    policy = Policy.from_arrays(arrays() | {"layer1.bias": np.float32([9.0, 9.0])}, actions=bounded)
    low_high = policy.predict(np.zeros(3)), policy.predict(np.ones((4, 3)), deterministic=False)
    assert low_high[0][0] == 30.0 < 7 * low_high[0][1], "the second has no bounds"
    assert (low_high[1][:, 0] == 30.0).all()


def test_the_same_actions_in_other_units() -> None:
    obs = np.random.default_rng(1).normal(size=(5, 3))
    policy = Policy.from_arrays(arrays(), actions=Actions((2,), (), (1.0, -2.0), (3.0, 0.5)))
    other = policy.written_as(Actions((2,), (), (0.0, 4.0), (20.0, 7.0)))
    assert other.actions.scale == (20.0, 7.0)
    np.testing.assert_allclose(other.predict(obs), policy.predict(obs), rtol=1e-4)
    sampled = [
        each.predict(obs, deterministic=False, rng=np.random.default_rng(3)) for each in (policy, other)
    ]
    np.testing.assert_allclose(sampled[0], sampled[1], rtol=1e-4)
    assert policy.written_as(Actions((), (2,), (0.0,))) is policy, "choices are no quantities"


NAMED = {
    "observations": [
        {"name": "clock", "size": 1, "choices": [], "least": []},
        {"name": "state/side", "size": 1, "choices": [2], "least": [1]},
    ]
}


def test_observations_may_be_given_as_the_environment_gives_them(tmp_path: Path) -> None:
    policy = load_policy(write(tmp_path / "a.safetensors", NAMED))
    flat = np.float32([[0.5, 0, 1], [0.7, 1, 0]])
    one = {"clock": np.array([0.5]), "state": {"side": 2}, "unused": "thing"}
    np.testing.assert_array_equal(policy.predict(one), policy.predict(flat[0]))
    many = {"clock": flat[:, :1], "state": {"side": np.array([2, 1])}}
    np.testing.assert_array_equal(policy.predict(many), policy.predict(flat))
    first = {"clock": flat[:1, :1], "state": {"side": np.array([2])}}
    assert policy.predict(first).shape == (1, 2)
    with pytest.raises(RilcoError, match="predict: an observation has no part 'state/side'"):
        policy.predict({"clock": 1.0})
    with pytest.raises(RilcoError, match=r"state/side holds 3 .* from 1 to 2"):
        policy.predict({"clock": 1.0, "state": {"side": 3}})
    with pytest.raises(RilcoError, match=r"shapes \[\[2, 1\], \[1\]\]"):
        policy.predict({"clock": flat[:, :1], "state": {"side": np.array([2])}})
    with pytest.raises(ValueError, match=r"shape \(3,\) or \(n, 3\), got \(4,\)"):
        policy.predict(np.zeros(4))
    with pytest.raises(ValueError, match=r"knows no names .*flatten\(obs\)"):
        load_policy(write(tmp_path / "b.safetensors")).predict(one)


def test_the_largest_weights_that_are_accepted_give_finite_actions(tmp_path: Path) -> None:
    path = write(tmp_path / "a.safetensors", layer0__weight=np.full((3, 4), 1e37, np.float32))
    obs = np.full((1, 3), 1e30, np.float32) * [[1, -1, 1]]
    with np.errstate(over="ignore"):
        assert np.isfinite(load_policy(path).predict(obs)).all()
