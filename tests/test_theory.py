"""The paper's two results, checked exactly on finite problems: Lemma 1 (the identity of risks) and Theorem 1
(the policy that maximises the risk is the expert's)."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rilco.losses import LOSSES

SYMMETRIC = [name for name, loss in LOSSES.items() if loss.symmetric is not None]
OTHERS = [name for name, loss in LOSSES.items() if loss.symmetric is None]


@functools.cache
def compiled(name: str) -> Callable[[np.ndarray], jax.Array]:
    return jax.jit(LOSSES[name].fn)


def evaluate(name: str, z: np.ndarray) -> np.ndarray:
    """l(z) as rilco computes it; the sums are then taken in float64."""
    return np.asarray(compiled(name)(np.asarray(z, np.float32)), np.float64)


def risk(name: str, g: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> float:
    """The balanced risk R(g; positive, negative, l) on a finite support."""
    return 0.5 * positive @ evaluate(name, g) + 0.5 * negative @ evaluate(name, -g)


# --- Lemma 1

SUPPORT = 6  # pairs x that have any probability
share = st.floats(0, 1)
weights = st.lists(st.floats(0, 1), min_size=SUPPORT, max_size=SUPPORT).filter(lambda w: sum(w) > 0.1)
densities = weights.map(lambda weights: np.array(weights) / sum(weights))
scores = st.lists(st.floats(-20, 20, width=32), min_size=SUPPORT, max_size=SUPPORT).map(np.array)


def mixtures(
    expert: np.ndarray, nonexpert: np.ndarray, alpha: float, kappa: float, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """rho', the demonstrations, and rho_pi^lambda, what the classifier sets against them (Assumption 1)."""
    demos = alpha * expert + (1 - alpha) * nonexpert
    policy = kappa * expert + (1 - kappa) * nonexpert
    return demos, lam * nonexpert + (1 - lam) * policy


def implied_constant(
    name: str,
    g: np.ndarray,
    expert: np.ndarray,
    nonexpert: np.ndarray,
    alpha: float,
    kappa: float,
    lam: float,
) -> float:
    """The c that the identity of Lemma 1 would need for this classifier."""
    demos, against = mixtures(expert, nonexpert, alpha, kappa, lam)
    scale = alpha - kappa * (1 - lam)
    rest = risk(name, g, demos, against) - scale * risk(name, g, expert, nonexpert)
    return 2 * rest / (1 - scale)


@pytest.mark.parametrize("name", SYMMETRIC)
@given(g=scores, expert=densities, nonexpert=densities, alpha=share, kappa=share, lam=share)
def test_lemma_1_holds_for_every_symmetric_loss(
    name: str,
    g: np.ndarray,
    expert: np.ndarray,
    nonexpert: np.ndarray,
    alpha: float,
    kappa: float,
    lam: float,
) -> None:
    demos, against = mixtures(expert, nonexpert, alpha, kappa, lam)
    scale = alpha - kappa * (1 - lam)
    expected = scale * risk(name, g, expert, nonexpert) + 0.5 * (1 - scale) * LOSSES[name].symmetric
    assert risk(name, g, demos, against) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", OTHERS)
@given(
    signs=st.lists(st.sampled_from([-1.0, 1.0]), min_size=SUPPORT, max_size=SUPPORT).map(np.array),
    size=st.floats(1.5, 8),
    expert=densities,
    nonexpert=densities,
    alpha=st.floats(0.5, 0.9),
    kappa=share,
    lam=share,
)
def test_lemma_1_fails_for_the_others(
    name: str,
    signs: np.ndarray,
    size: float,
    expert: np.ndarray,
    nonexpert: np.ndarray,
    alpha: float,
    kappa: float,
    lam: float,
) -> None:
    """No one constant serves two classifiers that differ only in how sure they are."""
    mixing = {"expert": expert, "nonexpert": nonexpert, "alpha": alpha, "kappa": kappa, "lam": lam}
    mild, sure = (implied_constant(name, scale * size * signs, **mixing) for scale in (1, 2))
    assert sure - mild > 0.5


# --- Theorem 1, on a ring of states that can be solved exactly

STATES, ACTIONS, DISCOUNT, BOUND = 5, 3, 0.9, 3.0  # actions: clockwise, counter-clockwise, stay
SLIP = 0.1


def transitions() -> np.ndarray:
    """P[s, a, s']: an action does what it says, but for a slip to a state at random."""
    matrix = np.full((STATES, ACTIONS, STATES), SLIP / STATES)
    for state in range(STATES):
        for action, move in enumerate((1, -1, 0)):
            matrix[state, action, (state + move) % STATES] += 1 - SLIP
    return matrix


def occupancy(policy: np.ndarray) -> np.ndarray:
    """rho_pi(s, a) of policy [s, a], the discounted state-action density from a uniform start."""
    kernel = np.einsum("sa,sat->st", policy, transitions())
    start = np.full(STATES, 1 / STATES)
    visits = np.linalg.solve(np.eye(STATES) - DISCOUNT * kernel.T, (1 - DISCOUNT) * start)
    return visits[:, None] * policy


def solve(reward: np.ndarray) -> np.ndarray:
    """The best action values Q[s, a] by value iteration."""
    values = np.zeros((STATES, ACTIONS))
    for _ in range(400):
        values = reward + DISCOUNT * transitions() @ values.max(axis=1)
    return values


def best_classifier(name: str, positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """The minimiser of the risk among scores within +-BOUND, found pair by pair by trying them all."""
    tried = np.linspace(-BOUND, BOUND, 61)
    cost = positive[..., None] * evaluate(name, tried) + negative[..., None] * evaluate(name, -tried)
    return tried[np.argmin(cost, axis=-1)]


EXPERT_POLICY = np.eye(ACTIONS)[np.zeros(STATES, int)]  # always clockwise
NONEXPERT_POLICY = np.array([0.3, 0.4, 0.3]) * np.ones((STATES, 1))
EXPERT, NONEXPERT = occupancy(EXPERT_POLICY), occupancy(NONEXPERT_POLICY)


def reward_at(name: str, alpha: float, kappa: float, lam: float) -> np.ndarray:
    """l(-g*) for the classifier that is best against a policy of that kappa."""
    demos, against = mixtures(EXPERT, NONEXPERT, alpha, kappa, lam)
    best = best_classifier(name, demos, against)
    return evaluate(name, -best)


@pytest.mark.parametrize("kappa", [0.0, 0.3, 0.8, 1.0])
def test_a_mixture_of_densities_is_the_density_of_a_policy(kappa: float) -> None:
    """Assumption 1 can be met: pi(a|s) = rho(s, a) / rho(s) visits just what the mixture says."""
    mixed = kappa * EXPERT + (1 - kappa) * NONEXPERT
    np.testing.assert_allclose(occupancy(mixed / mixed.sum(axis=1, keepdims=True)), mixed, atol=1e-12)
    assert mixed.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("alpha", [0.55, 0.7, 0.95])
@pytest.mark.parametrize("kappa", [0.0, 0.5, 1.0])
def test_the_best_classifier_on_noisy_data_is_the_best_on_clean_data(
    name: str, alpha: float, kappa: float
) -> None:
    noisy = best_classifier(name, *mixtures(EXPERT, NONEXPERT, alpha, kappa, lam=0.5))
    np.testing.assert_array_equal(noisy, best_classifier(name, EXPERT, NONEXPERT))


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("alpha", [0.55, 0.7, 0.95])
@pytest.mark.parametrize("kappa", [0.0, 0.5, 1.0])
def test_theorem_1_the_expert_maximises_the_risk(name: str, alpha: float, kappa: float) -> None:
    reward = reward_at(name, alpha, kappa, lam=0.5)
    shares = np.linspace(0, 1, 11)
    returns = [np.sum((k * EXPERT + (1 - k) * NONEXPERT) * reward) for k in shares]
    assert np.argmax(returns) == len(shares) - 1, "among mixtures, the pure expert"
    assert np.all(np.diff(returns) > 1e-3)


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("alpha", [0.55, 0.7, 0.95])
@pytest.mark.parametrize("kappa", [0.0, 0.5, 1.0])
def test_solving_the_task_for_that_reward_gives_the_experts_policy(
    name: str, alpha: float, kappa: float
) -> None:
    values = solve(reward_at(name, alpha, kappa, lam=0.5))
    np.testing.assert_array_equal(values.argmax(axis=1), EXPERT_POLICY.argmax(axis=1))
    gap = values[:, 0] - values[:, 1:].max(axis=1)
    assert np.all(gap > 1e-3), "and no other action is as good"


@pytest.mark.parametrize("name", SYMMETRIC)
def test_without_pseudo_labels_the_reward_turns_against_a_policy_that_has_become_the_expert(
    name: str,
) -> None:
    """lambda = 0 breaks alpha - kappa (1 - lambda) > 0 once kappa > alpha: GAIL is not robust."""
    reward = reward_at(name, alpha=0.7, kappa=0.9, lam=0.0)
    assert np.sum(EXPERT * reward) < np.sum(NONEXPERT * reward)
    assert (solve(reward).argmax(axis=1) != EXPERT_POLICY.argmax(axis=1)).all()
