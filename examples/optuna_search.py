"""Optuna chooses a learning rate: the callback reports every evaluation, and ends what does not promise much.

python examples/optuna_search.py
"""

import optuna

import rilco


def objective(trial: optuna.Trial) -> float:
    def watch(record):
        if "eval_return" in record:
            trial.report(record["eval_return"], record["iteration"])
            return not trial.should_prune()

    rate = trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True)
    run = rilco.train(
        f"runs/search/{trial.number}",
        env="Pendulum-v1",
        method="ppo",
        steps=20_000,
        callback=watch,
        settings={"ppo.learning_rate": rate, "evaluate_every": 5_000},
    )
    return run.evaluations()[-1]["eval_return"]


study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=5)
print(study.best_params)
