"""Weights & Biases sees a run by a callback. Offline: what it writes stays on this machine.

python examples/wandb_offline.py
"""

import wandb

import rilco

with wandb.init(project="rilco", mode="offline", dir="runs") as tracking:
    rilco.train(
        "runs/tracked",
        env="Pendulum-v1",
        method="ppo",
        steps=20_000,
        callback=lambda r: tracking.log(dict(r)),
    )
