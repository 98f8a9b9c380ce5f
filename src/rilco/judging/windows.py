"""The windows of an audit as a table."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from rilco.judging.calibration import Calibration
from rilco.judging.record import Audit

COLUMNS = ("demonstration", "first_step", "pairs", "score", "expert_probability", "demonstration_verdict")


def windows_csv(audit: Audit) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(window_rows(audit))
    return text.getvalue()


def window_rows(audit: Audit) -> list[dict[str, Any]]:
    """A row a window, in the order of the demonstrations; of each the score, and a probability that is calibrated by the
    demonstrations'. The verdict is that on the whole demonstration."""
    rows: list[dict[str, Any]] = []
    for demo in audit.demonstrations:
        for i, score in enumerate(demo.windows):
            first = i * audit.window_pairs
            rows.append(
                {
                    "demonstration": demo.index,
                    "first_step": first,
                    "pairs": min(audit.window_pairs, demo.pairs - first),
                    "score": score,
                    "expert_probability": demo.expert_probability,
                    "demonstration_verdict": demo.verdict,
                }
            )
    pairs, scores, probability = (
        np.array([row[name] for row in rows]) for name in ("pairs", "score", "expert_probability")
    )
    calibration = Calibration(np.repeat(scores, pairs), np.repeat(probability, pairs))
    for row, probable in zip(rows, calibration(scores).tolist(), strict=True):
        row["expert_probability"] = probable
    return rows
