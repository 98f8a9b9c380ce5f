"""The demo: noisy demonstrations, an audit of them, clones with and without it, and two learners.

The output folder keeps every stage, so an interrupted demo goes on where it was.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rilco.bc.training import clone
from rilco.clean.config import METHOD
from rilco.data.collect import collect
from rilco.data.formats import save_demonstrations
from rilco.data.formats.files import atomic_write
from rilco.data.index import demonstrators
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations
from rilco.data.standard import standard_files
from rilco.errors import RunError, TaskError, require
from rilco.evaluation import evaluate
from rilco.experiment.launch import LOGS
from rilco.experiment.sweep import sweep
from rilco.judging.audit import audit
from rilco.judging.record import PAGE
from rilco.judging.result import load_audit
from rilco.options import make_config
from rilco.policy.saved import Policy, load_policy, shipped_rung
from rilco.runs.folder import Run
from rilco.runs.how import How
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
CLONING_STEPS = 30_000
CLEAN: dict[str, Any] = {"clean.gradient_steps": CLONING_STEPS, "clean.practice_rounds": 0}
"""Less than usual of what `ril-co-clean` does: shorter cloning, and no practice."""
EPISODES = 20
EVALUATE_EVERY = 100_000
VIDEO_STEPS = 400


class Material(NamedTuple):
    """What the demo learns from."""

    task: Task
    files: list[str]
    """Demonstrations, the expert's first."""
    expert: Policy


def run_demo(
    out: Path, say: Callable[[str], None], *, steps: int = STEPS, expert_steps: int = EXPERT_STEPS
) -> None:
    material = bullet_material(say) if has_pybullet() else mujoco_material(out, say, expert_steps)
    demos = load_demonstrations(material.files, NOISE_RATE)
    share = demos.noise_fraction
    say(f"     {share:.0%} of the {len(demos):,} pairs are a worse policy's. No label says which.")
    say(
        "2/4  The audit: which demonstrations are unlike the others? Then clones of what it keeps, and of all."
    )
    clones = audit_and_clone(material, out / AUDIT, say)
    say(f"3/4  In the simulator: RIL-Co and GAIL learn from all demonstrations, {steps:,} transitions each.")
    say(
        "     Beside them ril-co-clean judges the demonstrations, too. Its policy is the mean of four clones."
    )
    runs = train_side_by_side(material, out, steps)
    say(f"4/4  Returns of the deterministic policies over {EPISODES} episodes:")
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
    shown = str(video)
    try:
        play(runs["ril-co"].path, video, max_steps=VIDEO_STEPS)
    except TaskError as error:  # a machine that cannot draw can still learn
        shown = f"none: {error}"
    say(f"\nPicture {curve}\nVideo   {shown}\nRuns    {', '.join(str(run.path) for run in runs.values())}")
    say(f"Audit   {out / AUDIT / PAGE}")


def has_pybullet() -> bool:
    return importlib.util.find_spec("pybullet") is not None


def bullet_material(say: Callable[[str], None]) -> Material:
    say(f"1/4  Demonstrations of {BULLET.name}, by an expert and five worse policies that come with rilco.")
    return Material(BULLET, [*standard_files(BULLET)], shipped_rung(BULLET.name, 1)[0])


def mujoco_material(out: Path, say: Callable[[str], None], steps: int) -> Material:
    require("mujoco", "Without PyBullet, the demo's simulations", "demo")
    say(
        f"1/4  Demonstrations of {MUJOCO.name}, by an expert that is trained now and five early snapshots of it."
    )
    options = {"env": MUJOCO.env, "method": "acktr", "steps": steps, "snapshot_every": steps // 15}
    run = train_if_needed(make_config(options), out / "expert", How())
    files = []
    for rung, policy in enumerate([run.policy, *map(load_policy, snapshots(run.path)[4::-1])], start=1):
        file = out / "demos" / f"{rung}.npz"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            save_demonstrations(collect(policy, MUJOCO, expert=rung == 1, name=f"policy-{rung}"), file)
        files.append(str(file))
    return Material(MUJOCO, files, run.policy)


def train_side_by_side(material: Material, out: Path, steps: int) -> dict[str, Run]:
    """Train all methods, as far as they are not trained already."""
    options: dict[str, Any] = {
        "task": material.task.task,
        "env": material.task.env,
        "demos": material.files if material.task.env else None,
        "noise_rate": NOISE_RATE,
        "evaluate_every": EVALUATE_EVERY,
        "evaluation_episodes": 4,
        "final_episodes": 4,
    }
    lengths = {METHOD: CLEAN, **{method: {"steps": steps} for method in METHODS}}
    swept = sweep([(method, {**options, "method": method, **own}) for method, own in lengths.items()], out)
    if swept.failures:
        reasons = ", ".join(f"{name}: {reason}" for name, reason in swept.failures.items())
        raise RunError(f"{out}: training failed ({reasons}). Its log is in {out / LOGS}.")
    return swept.runs


def audit_and_clone(material: Material, out: Path, say: Callable[[str], None]) -> dict[str, Path]:
    """Clones of what the audit kept and of everything, by name."""
    task = material.task
    if not (out / PAGE).exists():
        audit(material.files, task=task.task, env=task.env, noise_rate=NOISE_RATE, offline=True).save(out)
    judged = load_audit(out)
    say(f"     {judged.verdict.summary}")
    clones = {}
    for name, demos in (("what was kept", judged.kept), ("everything", None)):
        file = out / f"clone-of-{name.split()[-1]}.safetensors"
        if not file.exists():
            demos = demos or judged.demonstrations
            clone(demos, gradient_steps=CLONING_STEPS, task=task).save(file)
        clones[f"a clone of {name}"] = file
    return clones


def data_return(files: Sequence[str], demos: Demonstrations) -> float:
    """The return of a learner that copied the mixture as it is."""
    own = {one.name: one.mean_return or 0.0 for one in demonstrators(load_demonstrations(files))}
    return sum(one.pairs / len(demos) * own[one.name] for one in demonstrators(demos))


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
    with atomic_write(file) as temporary:
        figure.savefig(temporary, format=file.suffix.removeprefix("."), dpi=120)
