"""The whole story in a few minutes: an expert, noisy demonstrations, and two learners that see only those.

Every stage is kept in the output folder and done once: an interrupted demo goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rilco.collect import collect
from rilco.config import RunConfig
from rilco.demonstrations import load_demonstrations
from rilco.evaluation import evaluate, play
from rilco.formats import save_file
from rilco.options import make_config
from rilco.policy.saved import load_policy
from rilco.run import Run
from rilco.tasks.table import Task
from rilco.training import train_run

TASK = "hopper"
EXPERT_STEPS = 600_000
IMITATION_STEPS = 500_000
SNAPSHOT_EVERY = 25_600
NON_EXPERTS = (1, 2, 3, 4, 5)  # snapshots from the beginning of the expert's training, counted from 1
PAIRS = 10_000
NOISE_RATE = 0.4
METHODS = ("ril-co", "gail-logistic")


def run_demo(out: Path, say: Callable[[str], None]) -> None:
    say(f"1/4  An expert for {TASK}: ACKTR on the true reward, {EXPERT_STEPS:,} transitions.")
    expert = train_once(
        out / "expert", method="acktr", task=TASK, steps=EXPERT_STEPS, snapshot_every=SNAPSHOT_EVERY
    )
    say(f"2/4  Demonstrations: {PAIRS:,} pairs of the expert, and runs of five beginners.")
    files = write_demonstrations(expert, out / "demos")
    demos = load_demonstrations(files, NOISE_RATE)
    say(f"     {demos.noise_fraction:.0%} of the {len(demos):,} pairs are a beginner's. No label says which.")
    say(f"3/4  Imitation from these demonstrations alone, {IMITATION_STEPS:,} transitions each.")
    runs = {
        method: train_once(
            out / method, method=method, task=TASK, demos=files, noise_rate=NOISE_RATE, steps=IMITATION_STEPS
        )
        for method in METHODS
    }
    say("4/4  Results, deterministic policies over 10 episodes:")
    report(expert, files, runs, out, say)


def train_once(folder: Path, **options: object) -> Run:
    """Train, go on training, or do nothing, depending on what is there."""
    options = {"evaluate_every": 50_000, **options}
    started = (folder / "config.json").exists()
    config = make_config(options, stored=RunConfig.load(folder) if started else None)
    return train_run(config, folder, resume=started)


def write_demonstrations(expert: Run, folder: Path) -> list[str]:
    """One npz file of the expert and one of each beginner."""
    snapshots = sorted((expert.path / "policy" / "snapshots").iterdir())
    sources = [("expert", expert.path)] + [(f"beginner{i}", snapshots[i - 1]) for i in NON_EXPERTS]
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, source in sources:
        file = folder / f"{name}.npz"
        if not file.exists():
            policy = load_policy(source)
            save_file(collect(policy, Task(task=TASK), pairs=PAIRS, expert=name == "expert", name=name), file)
        files.append(str(file))
    return files


def report(
    expert: Run, files: list[str], runs: dict[str, Run], out: Path, say: Callable[[str], None]
) -> None:
    policies = {"expert": expert.path}
    policies |= {method: run.path / "policy" / "last.safetensors" for method, run in runs.items()}
    returns = {name: evaluate(path, episodes=10).returns for name, path in policies.items()}
    for name, values in returns.items():
        say(f"     {name:<14} {values.mean():8,.0f} ± {values.std():,.0f}")
    say(
        f"     {'the data':<14} {data_return(files):8,.0f}   (its demonstrators' returns, weighted by their pairs)"
    )
    curve, video = out / "learning_curves.png", out / "ril-co.mp4"
    draw_curves(runs, float(returns["expert"].mean()), curve)
    play(runs["ril-co"].path, video, max_steps=400)
    say(f"\nPicture {curve}\nVideo   {video}\nRuns    {', '.join(str(run.path) for run in runs.values())}")


def data_return(files: list[str]) -> float:
    """What a learner would get that copied the mixture as it is."""
    demos = load_demonstrations(files, NOISE_RATE)
    own = {row["name"]: row["mean_return"] for row in load_demonstrations(files).summary()["demonstrators"]}
    shares = [(row["pairs"] / len(demos), own[row["name"]]) for row in demos.summary()["demonstrators"]]
    return sum(share * mean_return for share, mean_return in shares)


def draw_curves(runs: dict[str, Run], expert_return: float, file: Path) -> None:
    """Evaluated return over transitions, the expert's as a line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for (method, run), style in zip(runs.items(), ("-", "--"), strict=False):
        points = run.evaluations()
        x, y = [p["transitions"] for p in points], [p["eval_return"] for p in points]
        axes.plot(x, y, style, linewidth=2, label=method)
    axes.axhline(expert_return, color="black", linewidth=1, linestyle=":", label="expert")
    axes.set(xlabel="transitions", ylabel="return", title=f"{TASK}, noise rate {NOISE_RATE}")
    axes.legend(frameon=False)
    figure.savefig(file, dpi=120)
