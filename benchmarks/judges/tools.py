"""Asks the packages of others for their scores; runs in an environment of its own, which need not hold rilco.

pip install --no-deps robot-report-card==0.1.0 lerobot-doctor==0.2.0 democlean==0.1.5
pip install numpy scipy scikit-learn pyarrow rich tqdm
python tools.py LEROBOT_FOLDER        # prints JSON: a list of scores for each tool, higher is better
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

WORST = -1e9  # of an episode that a tool refuses to score


def main(folder: Path) -> None:
    from democlean.scorer import DemoScorer
    from lerobot_doctor.score import score_episodes
    from robot_report_card.score.engine import score_dataset
    from robot_report_card.score.reader import read_dataset

    dataset = read_dataset(folder)
    card = score_dataset(dataset).episodes
    scorer = DemoScorer()
    doctor = sorted(score_episodes(folder).scores, key=lambda one: one.episode_index)
    scores = {
        "robot-report-card 0.1.0": [WORST if one.combined is None else -one.combined for one in card],
        "lerobot-doctor 0.2.0": [one.overall_score for one in doctor],
        "democlean 0.1.5": [scorer.score_episode(one.state, one.action).mi_score for one in dataset.episodes],
    }
    print(json.dumps(scores))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
