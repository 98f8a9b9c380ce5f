"""An audit in a few lines of text."""

from __future__ import annotations

from rilco.judging.auditing import Audited
from rilco.judging.page import percent
from rilco.judging.truth import compare


def describe(audited: Audited) -> list[str]:
    """The verdict in a few lines, and how it compares with the labels where there are any."""
    audit = audited.audit
    dropped = sum(not audit.keeps(demo) for demo in audit.demonstrations)
    noise, verdict = audit.noise_fraction, audit.verdict
    sure = "" if verdict.confidence is None else f" (confidence {percent(verdict.confidence)})"
    lines = [
        f"{verdict.kind}{sure}: {verdict.sentence}",
        f"Kept {len(audit.demonstrations) - dropped:,} of {len(audit.demonstrations):,} demonstrations, "
        f"{audited.pairs.keep.mean():.1%} of the pairs."
        + (
            ""
            if noise is None
            else f" Estimated noise: {noise.estimate:.1%} ({noise.low:.1%} to {noise.high:.1%})."
        ),
    ]
    truth = compare(audited.pairs, audited.demos)
    if truth is not None:
        parts = [
            ("AUROC of pairs", truth.pair_auroc, ".3f"),
            ("windows", truth.window_auroc, ".3f"),
            ("demonstrations", truth.demonstration_auroc, ".3f"),
            ("kept of the expert", truth.expert_kept, ".1%"),
            ("of the others", truth.other_kept, ".1%"),
        ]
        known = ", ".join(f"{name} {value:{form}}" for name, value, form in parts if value is not None)
        lines.append(f"Against the labels, which the audit does not see: {known}.")
    return lines
