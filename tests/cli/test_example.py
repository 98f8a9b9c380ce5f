"""The demo from start to end, with less of everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rilco.cli import example as demo
from rilco.judging.record import read_record
from rilco.tasks.gym_batch import DISPLAYS


@pytest.fixture(params=["bullet", "mujoco"])
def simulator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    pytest.importorskip("imageio_ffmpeg")
    pytest.importorskip("pybullet" if request.param == "bullet" else "mujoco")
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(demo, "has_pybullet", lambda: request.param == "bullet")
    return request.param


@pytest.mark.slow
def test_the_demo_tells_its_story_and_keeps_what_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulator: str
) -> None:
    for name, value in {
        "CLONING_STEPS": 200,
        "EPISODES": 1,
        "EVALUATE_EVERY": 1_280,
        "VIDEO_STEPS": 10,
        "CLEAN": {
            "clean.clones": 2,
            "clean.practice_rounds": 1,
            "clean.practice_starts": 32,
            "clean.practice_steps": 20,
            "clean.gradient_steps": 200,
        },
    }.items():
        monkeypatch.setattr(demo, name, value)
    said: list[str] = []
    demo.run_demo(tmp_path, said.append, steps=2_560, expert_steps=9_600)
    story = "\n".join(said)
    assert "43% of the 17,500 pairs" in story or simulator == "mujoco"
    assert re.search(r"4\d% of the \d\d,\d\d\d pairs", story)
    for name in (
        "the expert",
        "a clone of what was kept",
        "a clone of everything",
        "ril-co",
        "gail-logistic",
        "ril-co-clean",
        "the data",
    ):
        assert f"     {name:<24} " in story
    assert said[-1] == f"Audit   {tmp_path / 'audit' / 'index.html'}"
    for file in ("learning_curves.png", "audit/index.html", "audit/clone-of-kept.safetensors"):
        assert (tmp_path / file).stat().st_size > 1_000
    if simulator == "bullet":
        assert (tmp_path / "ril-co.mp4").stat().st_size > 1_000
    else:
        drawn = (tmp_path / "ril-co.mp4").exists()
        assert drawn or "Video   none: InvertedPendulum-v5: MuJoCo cannot draw here" in story
    judged = len(read_record(tmp_path / "audit")[0].demonstrations)
    assert judged == 165 if simulator == "bullet" else judged > 200, "episodes of an early pendulum are short"
    made = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.safetensors")}
    said.clear()
    demo.run_demo(tmp_path, said.append, steps=2_560, expert_steps=9_600)
    assert made == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.safetensors")}, (
        "made once only"
    )
    assert story.splitlines()[-1] == said[-1]
