"""The demo: noisy demonstrations, an audit of them, clones with and without it, and two learners.

The output folder keeps every stage, so an interrupted demo goes on where it was.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rilco.bc.training import clone
from rilco.clean.config import METHOD
from rilco.data.collect import collect
from rilco.data.formats import save_demonstrations
from rilco.data.ladder import shipped_rung
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations
from rilco.data.standard import standard_files
from rilco.data.views import save_figure
from rilco.errors import RunError, TaskError, require
from rilco.evaluation import evaluate
from rilco.experiment.grid import Job
from rilco.experiment.launch import LOGS
from rilco.experiment.sweep import train_all
from rilco.judging.audit import audit
from rilco.judging.record import PAGE
from rilco.judging.result import load_audit
from rilco.options import make_config
from rilco.policy.saved import Policy, load_policy
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.runs.interrupt import StopSignal
from rilco.runs.paths import AUDIT, policy_file, snapshots
from rilco.tasks.table import Task
from rilco.training import train_if_needed
from rilco.video import play

BULLET = Task(task="halfcheetah")
MUJOCO = Task(env="InvertedPendulum-v5")
"""Used where PyBullet is not installed. Its expert is trained first; the worse policies are its early snapshots."""
EXPERT_STEPS = 300_000
NOISE_RATE = 0.4
STEPS = 800_000
METHODS = ("ril-co", "gail-logistic")
CLEAN: dict[str, Any] = {
    "clean.clones": 2,
    "clean.practice_rounds": 1,
    "clean.practice_starts": 96,
    "clean.gradient_steps": 30_000,
}
"""Less than usual of what `ril-co-clean` does."""
EPISODES = 10
EVALUATE_EVERY = 50_000
VIDEO_STEPS = 400
CLONING_STEPS = 30_000


@dataclass(frozen=True)
class Material:
    """What the demo learns from."""

    task: Task
    files: tuple[str, ...]
    """Demonstrations, the expert's first."""
    expert: Policy


def run_demo(
    out: Path, say: Callable[[str], None], *, steps: int = STEPS, expert_steps: int = EXPERT_STEPS
) -> None:
    material = bullet_material(say) if has_pybullet() else mujoco_material(out, say, expert_steps)
    demos = load_demonstrations(material.files, NOISE_RATE)
    say(
        f"     {demos.noise_fraction:.0%} of the {len(demos):,} pairs are a worse policy's. No label says which."
    )
    say(
        "2/4  The audit: which demonstrations are unlike the others? Then clones of what it keeps, and of all."
    )
    page, clones = audit_and_clone(material, out / AUDIT, say)
    say(
        f"3/4  In the simulator: RIL-Co and GAIL learn from all demonstrations, {steps:,} transitions each; ril-co-clean "
        "clones what it keeps, and its clones practise."
    )
    runs = train_side_by_side(material, out, steps)
    say(f"4/4  Returns of the deterministic policies over {EPISODES} episodes:")
    report(material, demos, runs, clones, out, say)
    say(f"Audit   {page}")


def has_pybullet() -> bool:
    return importlib.util.find_spec("pybullet") is not None


def bullet_material(say: Callable[[str], None]) -> Material:
    say(f"1/4  Demonstrations of {BULLET.name}, by an expert and five worse policies that come with rilco.")
    return Material(BULLET, standard_files(BULLET), shipped_rung(BULLET.name, 1)[0])


def mujoco_material(out: Path, say: Callable[[str], None], steps: int) -> Material:
    require("mujoco", "Without PyBullet, the demo's simulations", "demo")
    say(
        f"1/4  Demonstrations of {MUJOCO.name}, by an expert that is trained now and five early snapshots of it."
    )
    options = {"env": MUJOCO.env, "method": "acktr", "steps": steps, "snapshot_every": steps // 15}
    run = train_if_needed(make_config(options), out / "expert", How())
    files = []
    for rung, policy in enumerate([run.policy, *map(load_policy, snapshots(run.path)[4::-1])], start=1):
        files.append(out / "demos" / f"{rung}.npz")
        if not files[-1].exists():
            files[-1].parent.mkdir(parents=True, exist_ok=True)
            save_demonstrations(collect(policy, MUJOCO, expert=rung == 1, name=f"policy-{rung}"), files[-1])
    return Material(MUJOCO, tuple(map(str, files)), run.policy)


def train_side_by_side(material: Material, out: Path, steps: int) -> dict[str, Run]:
    """Train all methods, as far as they are not trained already."""
    task = material.task
    options: dict[str, Any] = {
        "task": task.task,
        "env": task.env,
        "demos": material.files if task.env else None,
        "noise_rate": NOISE_RATE,
        "evaluate_every": EVALUATE_EVERY,
    }
    jobs = [Job(METHOD, make_config({**options, "method": METHOD, **CLEAN}))]
    jobs += [Job(method, make_config({**options, "method": method, "steps": steps})) for method in METHODS]
    with StopSignal() as stop:
        swept = train_all(jobs, out, stop=stop)
        stop.raise_if_requested()
    if swept.failures:
        reasons = ", ".join(f"{name}: {reason}" for name, reason in swept.failures.items())
        raise RunError(f"{out}: training failed ({reasons}). Its log is in {out / LOGS}.")
    return swept.runs


def audit_and_clone(
    material: Material, out: Path, say: Callable[[str], None]
) -> tuple[Path, dict[str, Path]]:
    """The audit's page, and clones of what the audit kept and of everything, by name."""
    task = material.task
    if not (out / PAGE).exists():
        audit(material.files, task=task.task, env=task.env, noise_rate=NOISE_RATE, offline=True).save(out)
    judged = load_audit(out)
    say(f"     {judged.verdict.summary}")
    files = {
        "a clone of what was kept": (out / "clone-of-kept.safetensors", judged.kept or judged.demonstrations),
        "a clone of everything": (out / "clone-of-all.safetensors", judged.demonstrations),
    }
    for file, demos in files.values():
        if not file.exists():
            clone(demos, gradient_steps=CLONING_STEPS, actions=task.spaces().actions).save(file)
    return out / PAGE, {name: file for name, (file, _) in files.items()}


def report(
    material: Material,
    demos: Demonstrations,
    runs: dict[str, Run],
    clones: dict[str, Path],
    out: Path,
    say: Callable[[str], None],
) -> None:
    trained = {method: policy_file(run.path, "last") for method, run in runs.items()}
    policies: dict[str, Policy | Path] = {"the expert": material.expert, **clones, **trained}
    means = {}
    for name, policy in policies.items():
        returns = evaluate(policy, task=material.task, episodes=EPISODES).returns
        means[name] = float(returns.mean())
        say(f"     {name:<24} {means[name]:8,.0f} ± {returns.std():,.0f}")
    mean = data_return(material.files, demos)
    say(f"     {'the data':<24} {mean:8,.0f}   (its demonstrators, weighted by their pairs)")
    curve, video = out / "learning_curves.png", out / "ril-co.mp4"
    draw_curves(runs, means["the expert"], curve, material.task.name)
    try:
        play(runs["ril-co"].path, video, max_steps=VIDEO_STEPS)
        shown = str(video)
    except TaskError as error:  # a machine that cannot draw can still learn
        shown = f"none: {error}"
    say(f"\nPicture {curve}\nVideo   {shown}\nRuns    {', '.join(str(run.path) for run in runs.values())}")


def data_return(files: tuple[str, ...], demos: Demonstrations) -> float:
    """The return of a learner that copied the mixture as it is."""
    own = {row["name"]: row["mean_return"] for row in load_demonstrations(files).summary()["demonstrators"]}
    shares = [(row["pairs"] / len(demos), own[row["name"]]) for row in demos.summary()["demonstrators"]]
    return sum(share * mean_return for share, mean_return in shares)


def draw_curves(runs: dict[str, Run], expert_return: float, file: Path, title: str) -> None:
    """Draw evaluated returns over transitions, and the expert's as a line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for method, style in zip(METHODS, ("-", "--"), strict=True):
        points = runs[method].evaluations()
        x, y = [p["transitions"] for p in points], [p["eval_return"] for p in points]
        axes.plot(x, y, style, linewidth=2, label=method)
    axes.axhline(expert_return, color="black", linewidth=1, linestyle=":", label="expert")
    axes.set(xlabel="transitions", ylabel="return", title=f"{title}, noise rate {NOISE_RATE}")
    axes.legend(frameon=False)
    save_figure(figure, file)
