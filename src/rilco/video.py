"""Videos of a policy: the frames of one episode, as mp4 or gif."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import subprocess
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

import numpy as np

from rilco.errors import ConfigError, RilcoError, TaskError, require
from rilco.evaluation import check_fits, task_of
from rilco.files import replacing, write_atomically, writing
from rilco.policy.saved import Policy, load_policy
from rilco.seeding import EVALUATION, RepositionedGenerator
from rilco.tasks.batch import Batch
from rilco.tasks.table import Task

FORMATS = (".mp4", ".gif")
SHORTEST = 20  # milliseconds that a gif's frame can last in every browser


def play(
    policy: Policy | str | os.PathLike[str],
    video: str | os.PathLike[str],
    *,
    seed: int = 0,
    max_steps: int = 1000,
    fps: int = 60,
    trust_env: bool = False,
) -> int:
    """Write a video of one episode, mp4 or gif by the file's ending; returns the number of frames."""
    path = Path(video)
    if path.suffix not in FORMATS:
        raise ConfigError(f"--video {path}: expected a name that ends in {' or '.join(FORMATS)}.")
    policy = load_policy(policy)
    drawn = frames(policy, task_of(policy, trust_env=trust_env), seed=seed, max_steps=max_steps)
    if path.suffix == ".gif":
        pictures = list(drawn)
        write_atomically(path, gif(pictures, fps))
        return len(pictures)
    with writing(path), contextlib.closing(drawn):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            return _encode(drawn, temporary, fps)


def frames(
    policy: Policy, task: Task, *, seed: int = 0, max_steps: int = 1000
) -> Generator[np.ndarray, None, None]:
    """RGB frames [height, width, 3] of the first episode that `evaluate` plays with this seed, a frame a step."""
    check_fits(policy, task)
    with contextlib.closing(task.make_batch(1, render=True)) as batch:
        obs = batch.reset([0], [RepositionedGenerator(seed, EVALUATION).at(0)])
        yield _draw(batch, task)
        for _ in range(max_steps):
            outcome = batch.step(policy.best(obs))
            obs = outcome.obs
            yield _draw(batch, task)
            if outcome.terminated[0] or outcome.truncated[0]:
                return


def check_drawable(task: Task) -> None:
    """Raises TaskError where the environment cannot be drawn."""
    with contextlib.closing(task.make_batch(1, render=True)) as batch:
        batch.reset([0], [np.random.default_rng(0)])
        _draw(batch, task)


def gif(frames: Sequence[np.ndarray], fps: int) -> bytes:
    """Frames [height, width, 3] as one moving picture that begins again."""
    require("PIL", "Moving pictures", "video")
    from PIL import Image

    first, *rest = map(Image.fromarray, frames)
    file = io.BytesIO()
    lasting = max(SHORTEST, 1000 // fps)
    first.save(file, format="GIF", save_all=True, append_images=rest, duration=lasting, loop=0)
    return file.getvalue()


def _draw(batch: Batch, task: Task) -> np.ndarray:
    try:
        return batch.render(0)
    except RilcoError:
        raise
    except Exception as error:  # whatever an environment's own drawing needs and does not find
        raise TaskError(f"{task.name}: cannot be drawn ({type(error).__name__}: {error}).") from error


def _encode(frames: Iterable[np.ndarray], file: Path, fps: int) -> int:
    """Write frames as mp4; returns their number. Raises OSError where ffmpeg says that it could not."""
    require("imageio_ffmpeg", "Videos", "video")
    from imageio_ffmpeg import get_ffmpeg_exe

    frames = iter(frames)
    first = next(frames)
    height, width, _ = first.shape
    taken = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps}", "-i", "-"]
    given = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-f", "mp4", str(file)]
    command = [get_ffmpeg_exe(), "-v", "error", "-y", *taken, "-c:v", "libx264", *given]
    count = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            with contextlib.suppress(BrokenPipeError):  # it ended, and says why
                for frame in itertools.chain([first], frames):
                    process.stdin.write(frame.tobytes())  # type: ignore[union-attr]
                    count += 1
            said = process.communicate()[1].decode(errors="replace").strip()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise OSError(said.rpartition("\n")[2] or f"ffmpeg ended with {process.returncode}")
    return count
