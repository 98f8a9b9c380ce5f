"""The demo from start to end, with less of everything."""

from __future__ import annotations

import pytest

from rilco.cli import example as demo
from rilco.judging.record import read_record


@pytest.mark.slow
def test_the_demo_tells_its_story_and_keeps_what_it_made(tmp_path, monkeypatch):
    pytest.importorskip("pybullet")
    pytest.importorskip("imageio")
    for name, value in {
        "CLONING_STEPS": 200,
        "EPISODES": 1,
        "EVALUATE_EVERY": 1_280,
        "VIDEO_STEPS": 10,
    }.items():
        monkeypatch.setattr(demo, name, value)
    said: list[str] = []
    demo.run_demo(tmp_path, said.append, steps=2_560)
    story = "\n".join(said)
    assert "43% of the 17,500 pairs" in story
    for name in ("the expert", "ril-co", "gail-logistic", "the clone", "the data"):
        assert f"     {name:<14} " in story
    assert said[-1] == f"Audit   {tmp_path / 'audit' / 'index.html'}"
    for file in ("learning_curves.png", "ril-co.mp4", "audit/index.html", "audit/clone.safetensors"):
        assert (tmp_path / file).stat().st_size > 1_000
    assert len(read_record(tmp_path / "audit")[0].demonstrations) == 165
    made = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.safetensors")}
    said.clear()
    demo.run_demo(tmp_path, said.append, steps=2_560)
    assert made == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.safetensors")}, (
        "made once only"
    )
    assert story.splitlines()[-1] == said[-1]
