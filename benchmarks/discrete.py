"""Discrete actions from noisy demonstrations: RIL-Co beside GAIL and behaviour cloning.

    python benchmarks/discrete.py --out runs/discrete

Scripted controllers make the demonstrations: an expert's, and five worse ones' of the same task. They are mixed by the
paper's protocol at noise rate 0.4. Each number is the mean return of the last evaluation, 100 episodes. What is in
the folder already is not made again. LunarLander needs Box2D: `pip install "gymnasium[box2d]"`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import rilco
from rilco.data.formats import save_demonstrations
from rilco.data.index import demonstrators

Controller = Callable[[np.ndarray, np.random.Generator], int]

METHODS = ("ril-co", "ril-co-clean", "gail-logistic", "bc")
PAIRS = 10_000
LASTING = {
    "policy_learner": "ppo",
    "lasting_ends": True,
    "freeze_normalizer_after": 0,
}
"""With `--lasting-ends`: for every method that learns a reward."""
TRUSTING = {
    "classifier.lam": 0.8,
    "classifier.selected": 300,
    "classifier.lam_schedule": "warm-up",
    "classifier.lam_iterations": 10,
}
"""Then RIL-Co begins as GAIL, and relies on its labels more than on the policy afterwards."""


@dataclass(frozen=True)
class Game:
    """A task, its expert and five who are worse."""

    env: str
    steps: int
    expert: Controller
    others: dict[str, Controller]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--steps", type=float, help="Transitions of a run.  [default: the task's]")
    parser.add_argument("--lasting-ends", action="store_true", help="Let ends last: see the documentation.")
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    arguments = parser.parse_args()
    for game in (GAMES[name]() for name in arguments.games):
        folder = arguments.out / game.env
        files = make_demonstrations(game, folder / "demos")
        print(f"\n{game.env}\n\n| method | {' | '.join(f'seed {seed}' for seed in arguments.seeds)} | mean |")
        print("|---" * (len(arguments.seeds) + 2) + "|")
        for method in arguments.methods:
            returns = [
                train(
                    game,
                    files,
                    method,
                    seed,
                    folder,
                    int(arguments.steps or game.steps),
                    arguments.lasting_ends,
                )
                for seed in arguments.seeds
            ]
            cells = " | ".join(f"{value:,.0f}" for value in returns)
            print(f"| {method} | {cells} | {np.mean(returns):,.0f} |", flush=True)


def cart_pole() -> Game:
    """Push towards where the pole falls; the worse ones are blind to its speed, late, or do the opposite at times."""

    def expert(obs: np.ndarray, rng: np.random.Generator) -> int:
        return int(obs @ np.array([0.1, 0.2, 1.0, 0.5]) > 0)

    return Game("CartPole-v1", 600_000, expert, _worse(expert, 2))


def lunar_lander() -> Game:
    """The controller that comes with the environment as an example, and disturbed versions of it."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    env = gymnasium.make("LunarLander-v3").unwrapped

    def expert(obs: np.ndarray, rng: np.random.Generator) -> int:
        return int(heuristic(env, obs))

    return Game("LunarLander-v3", 1_000_000, expert, _worse(expert, 4))


def _worse(expert: Controller, actions: int) -> dict[str, Controller]:
    """Each takes another wrong action instead of the expert's, in a share of the states or always in some of them."""

    def often(share: float) -> Controller:
        return lambda obs, rng: int(rng.integers(actions)) if rng.random() < share else expert(obs, rng)

    def shifted(obs: np.ndarray, rng: np.random.Generator) -> int:
        return (expert(obs, rng) + 1) % actions if rng.random() < 0.6 else expert(obs, rng)

    def always_last(obs: np.ndarray, rng: np.random.Generator) -> int:
        return actions - 1 if rng.random() < 0.7 else expert(obs, rng)

    return {
        "random-0.5": often(0.5),
        "random-0.75": often(0.75),
        "random": often(1.0),
        "shifted": shifted,
        "last": always_last,
    }


def make_demonstrations(game: Game, folder: Path) -> list[Path]:
    """A file for each controller, the expert's first."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, controller in {"expert": game.expert, **game.others}.items():
        files.append(folder / f"{name}.npz")
        if not files[-1].exists():
            demos = play(game.env, controller, expert=name == "expert", name=name)
            save_demonstrations(demos, files[-1])
        demos = rilco.load_demonstrations(files[-1])
        print(f"{name}: mean return {demonstrators(demos)[0].mean_return:,.0f}")
    return files


def play(env_id: str, controller: Controller, *, expert: bool, name: str) -> rilco.Demonstrations:
    """Whole episodes of at least `PAIRS` pairs."""
    env, rng = gymnasium.make(env_id), np.random.default_rng(0)
    rows: list[tuple[np.ndarray, int, float, int]] = []
    episode = 0
    while len(rows) < PAIRS:
        obs, _ = env.reset(seed=episode)
        ended = False
        while not ended:
            action = controller(obs, rng)
            after, reward, terminated, truncated, _ = env.step(action)
            rows.append((obs, action, float(reward), episode))
            obs, ended = after, terminated or truncated
        episode += 1
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return rilco.Demonstrations(
        columns[0],
        columns[1],
        reward=columns[2],
        episode=columns[3],
        expert=np.full(len(rows), expert),
        demonstrator_names=(name,),
    )


def train(
    game: Game,
    files: list[Path],
    method: str,
    seed: int,
    folder: Path,
    steps: int,
    lasting_ends: bool = False,
) -> float:
    """The mean return at the end of a run, made now or before."""
    out = folder / f"{method}{'-lasting' if lasting_ends else ''}-{seed}"
    if not (out / "done").exists():
        settings: dict[str, Any] = {"evaluate_every": 50_000}
        if lasting_ends:
            settings |= {**LASTING, **(TRUSTING if method == "ril-co" else {})}
        rilco.train(
            out,
            env=game.env,
            method=method,
            demos=files,
            noise_rate=0.4,
            steps=None if method == "ril-co-clean" else steps,  # it knows itself how many it needs
            seed=seed,
            quiet=True,
            settings=settings,
            resume=(out / "config.json").exists(),
        )
        (out / "done").touch()
    return float(rilco.Run(out).evaluations()[-1]["eval_return"])


GAMES = {"cart-pole": cart_pole, "lunar-lander": lunar_lander}

if __name__ == "__main__":
    main()
