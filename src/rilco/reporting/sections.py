"""The sections of the page: each takes the content and gives its part, or nothing where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rilco.data.ladder import PUBLISHED_RETURNS
from rilco.experiment.published import ABLATION, GAUSSIAN, POLICY, RATES, SOURCE, SOURCE_URL
from rilco.reporting.blocks import figure_block, strip_blocks, video_blocks
from rilco.reporting.content import Content
from rilco.reporting.html import Markup, element
from rilco.reporting.style import number, task_label
from rilco.reporting.summary import caveats, summary
from rilco.reporting.tables import (
    aside_table,
    coverage_table,
    final_tables,
    other_table,
    score_table,
    seeds_table,
    skipped_table,
)
from rilco.words import listed, plural


class Section(NamedTuple):
    name: str
    """Of its anchor."""
    title: str
    parts: Sequence[Markup]


def paragraph(*children: str, kind: str = "") -> Markup:
    return element("p", *children, class_=kind or False)


def all_sections(content: Content) -> list[Section]:
    makers = (
        summary_section,
        seeds_section,
        final_section,
        curve_section,
        ablation_section,
        gaussian_section,
        score_section,
        other_section,
        frame_section,
        loss_section,
        coverage_section,
        left_out_section,
        method_section,
    )
    return [section for make in makers if (section := make(content)) is not None]


def summary_section(content: Content) -> Section:
    lede = paragraph(
        "A policy is learned from demonstrations of which a part, the noise, comes from worse demonstrators than the "
        "expert, and nothing says which part. Ordinary imitation copies the noise too; RIL-Co is meant not to. "
        "Below, every number of ours stands beside the one that its authors published."
    )
    items = [element("li", sentence) for sentence in summary(content.found)]
    parts = [lede, element("ul", *items, class_="summary")]
    mind = caveats(content.found)
    if mind:
        parts.append(paragraph(" ".join(mind), kind="note"))
    return Section("summary", "Summary", parts)


def seeds_section(content: Content) -> Section | None:
    if not content.seeds:
        return None
    text = paragraph(
        "The same question asked of single runs: do ours and the published ones come from one distribution? Each run "
        "counts with the mean of its evaluations in the last whole million of transitions that all runs of its cell "
        "have. Welch’s test compares the two groups, and Holm’s correction allows for the number of cells."
    )
    caption = "Every run by itself, in the same million of transitions. Hollow: published. Filled: ours. Bars: means."
    items = [element("li", row.sentence) for row in content.seeds]
    parts = [
        text,
        figure_block(content.figures["seeds"], caption),
        seeds_table(content.seeds),
        element("ul", *items),
    ]
    return Section("seeds", "Seeds against seeds", parts)


def final_section(content: Content) -> Section:
    text = paragraph(
        "The final return of a run is the mean of its evaluations over its last 640,000 transitions, as long as it "
        "was. The paper’s runs have 20 million. Where ours are shorter there are two things to compare with: what the "
        "authors had after as many transitions, and what they had in the end."
    )
    caption = (
        "Final return against noise rate. Filled markers with error bars (standard error over seeds) are ours; dashed "
        "lines with bands are the published means and standard errors after 20 million transitions; hollow markers are "
        "the published curve at the length of our runs."
    )
    parts = [text, _expert_paragraph(content), figure_block(content.figures["final"], caption)]
    if content.found.cells:
        parts.append(final_tables(content.found.cells))
        if any(len(cell.runs) == 1 for cell in content.found.cells.values()):
            parts.append(
                paragraph(
                    "† A single run of ours: it is taken to scatter as single published runs do.", kind="note"
                )
            )
    return Section("final", "Final return", parts)


def _expert_paragraph(content: Content) -> Markup:
    """Whose return the dotted line is, beside the paper's: imitation cannot be expected to do much better."""
    shipped = [
        f"{task_label(task)} {number(expert.value)} ({number(PUBLISHED_RETURNS[task][0])})"
        for task, expert in content.experts.items()
        if expert.shipped
    ]
    if not shipped:
        return paragraph("The dotted line is the return of the paper’s expert.")
    others = "" if len(shipped) == len(content.experts) else " On the other tasks it is the paper’s."
    return paragraph(
        "The dotted line is the return of the expert that comes with rilco, in brackets that of the paper’s: "
        f"{listed(shipped)}.{others} Where demonstrations come from another expert than the paper’s, returns differ for "
        "that reason too."
    )


def curve_section(content: Content) -> Section | None:
    names = [name for name in content.figures if name.startswith("curves-")]
    if not names:
        return None
    parts = [
        paragraph(
            "Return of the deterministic policy during training, averaged over stretches of 400,000 transitions, as "
            "the published curves are, and drawn as far as our runs go. Shading is the standard error over seeds. BC "
            "collects no transitions; its axis counts training iterations, at 640 apiece."
        )
    ]
    for name in names:
        rate = name.removeprefix("curves-")
        caption = f"Learning curves at noise rate {rate}; solid ours, dashed published."
        parts += [element("h3", f"Noise rate {rate}"), figure_block(content.figures[name], caption)]
    had = {float(name.removeprefix("curves-")) for name in names}
    absent = [f"{rate:g}" for rate in RATES if rate not in had]
    if absent:
        parts.append(paragraph(f"Nothing was run here at noise rate {listed(absent)}.", kind="note"))
    return Section("curves", "Learning curves", parts)


def ablation_section(content: Content) -> Section:
    ours = any(key.noise == POLICY and key.method in ABLATION[1:] for key in content.found.cells)
    text = (
        "What RIL-Co is made of: with the logistic loss, which is not symmetric, in place of AP; and RIL-P, where one "
        "classifier labels for itself, in place of two that label for each other. The authors’ code of RIL-P gives "
        "its pseudo-labels no gradient, while rilco follows the paper’s equation, so there the two may well differ."
    )
    caption = "Final return of RIL-Co and its variants against noise rate; markers and lines as in the first figure."
    parts = [paragraph(text)]
    if not ours:
        parts.append(paragraph("No variant was run here; the published values are drawn.", kind="note"))
    parts.append(figure_block(content.figures["ablation"], caption))
    for name, figure in content.figures.items():
        if name.startswith("ablation-curves-"):
            rate = name.removeprefix("ablation-curves-")
            caption = f"Learning curves of the variants at noise rate {rate}; solid ours, dashed published."
            parts += [element("h3", f"Noise rate {rate}"), figure_block(figure, caption)]
    return Section("ablation", "Ablation", parts)


def gaussian_section(content: Content) -> Section:
    ours = any(key.noise == GAUSSIAN for key in content.found.cells)
    text = (
        "The same with another noise: the expert’s own actions with Gaussian noise added, on Ant. This is what VILD "
        "assumes of its data, and here it does well."
    )
    parts = [paragraph(text)]
    if not ours:
        parts.append(paragraph("Not run here; the published curves are drawn.", kind="note"))
    caption = "Learning curves on Ant with Gaussian noise; solid ours, dashed published."
    parts.append(figure_block(content.figures["gaussian"], caption))
    return Section("gaussian", "Gaussian noise", parts)


def score_section(content: Content) -> Section | None:
    if not content.scores:
        return None
    whose = [
        f"{task_label(task)} {number(expert.value)}" + ("" if expert.shipped else " (the paper’s)")
        for task, expert in content.experts.items()
    ]
    text = (
        "Returns are divided by the expert’s, so that tasks can be put together. The interquartile mean is the mean of "
        "the middle half of all runs; its interval comes from drawing the runs of each task again, 10,000 times. "
        "“RIL-Co better” is the probability that a run of RIL-Co returns more than a run of the other method "
        "on the same task, averaged over the tasks that both have. Methods with other tasks than their neighbours "
        f"are not to be compared with them. Experts’ returns: {listed(whose)}."
    )
    caption = (
        "Interquartile mean over the tasks, with its 95% interval where every task has at least two runs. The black "
        "tick is the mean of the published curves at the length of our runs, as shares of the paper’s experts."
    )
    parts = [paragraph(text), figure_block(content.figures["over-tasks"], caption)]
    parts += [score_table(rate, rows) for rate, rows in content.scores.items()]
    return Section("over-tasks", "Over the tasks", parts)


def other_section(content: Content) -> Section | None:
    if not content.found.others:
        return None
    parts = [
        paragraph(
            "Runs for which nothing is published: other environments, demonstrations or versions of rilco."
        ),
        *(
            figure_block(figure, "Learning curves: return against transitions.")
            for name, figure in content.figures.items()
            if name.startswith("other-")
        ),
        other_table(content.found.others),
    ]
    return Section("others", "Other environments", parts)


def frame_section(content: Content) -> Section | None:
    parts = []
    if content.strips:
        parts.append(
            paragraph(
                "The first 100 steps of an episode: the expert’s, and that of the policy that RIL-Co learned."
            )
        )
        parts.append(strip_blocks(content.strips))
    if content.videos:
        parts.append(video_blocks(content.videos))
    if content.more_videos:
        parts.append(
            paragraph(f"{plural(content.more_videos, 'more video')} in the run folders.", kind="note")
        )
    if content.complaints:
        lines = [f"{listed(who)}: {reason.rstrip('.')}." for reason, who in content.complaints.items()]
        parts.append(paragraph("Not shown, and why:", kind="note"))
        parts.append(element("ul", *(element("li", line) for line in lines), class_="note"))
    return Section("frames", "What it looks like", parts) if parts else None


def loss_section(content: Content) -> Section:
    text = (
        "The theory asks for a symmetric loss, l(z) + l(−z) constant: then the classifier that is best on noisy "
        "demonstrations is also best on clean ones. The unhinged loss is symmetric but unbounded below."
    )
    caption = "The losses as rilco computes them (lines) and as the paper’s Table 1 defines them (dots)."
    return Section(
        "losses", "The losses", [paragraph(text), figure_block(content.figures["losses"], caption)]
    )


def coverage_section(content: Content) -> Section:
    text = (
        "Every cell of the paper’s grid, and the number of runs that there are of it here. A dot is a cell that the "
        "paper has and that was not run."
    )
    return Section(
        "coverage", "What was run, and what not", [paragraph(text), coverage_table(content.found.cells)]
    )


def left_out_section(content: Content) -> Section | None:
    found = content.found
    parts = []
    if found.aside:
        parts.append(
            paragraph(
                "Only like is averaged with like. These runs differ from their neighbours in their settings or their "
                "data, learn from the true reward, or have no evaluation yet:"
            )
        )
        parts.append(aside_table(found.aside, content.root))
    if found.skipped:
        parts.append(paragraph("These could not be read as a run, or are the same run twice:"))
        parts.append(skipped_table(found.skipped, content.root))
    return Section("left-out", "Left out", parts) if parts else None


def method_section(content: Content) -> Section:
    points = (
        "An evaluation is the mean return of the deterministic policy over the run’s number of evaluation episodes, 10 "
        "unless set otherwise.",
        "The mean and the standard error of a cell are over its seeds, with n − 1 in the variance. The published ones "
        "are over 5 runs.",
        "“Within” two standard errors: the difference is at most twice the root of the sum of both squared standard "
        "errors. A single run of ours has none; it is given the published standard error times √5, the spread of "
        "single runs. With two or three seeds a standard error is itself uncertain.",
        "The published curve “after as many transitions” is averaged over the same last 640,000 transitions as ours; "
        "it is known as averages over 400,000, each of which counts by its overlap.",
        "If runs of a cell differ in length, each counts with its own end.",
        "Noise rates are nominal, as in the paper: 0.1, 0.2, 0.3 and 0.4 stand for 1/11, 1/5, 1/3 and 3/7 of all pairs.",
        "Interquartile mean, stratified bootstrap and probability of improvement follow Agarwal et al., “Deep "
        "Reinforcement Learning at the Edge of the Statistical Precipice”, NeurIPS 2021.",
    )
    source = paragraph("Published results: ", element("a", SOURCE, href=SOURCE_URL), ".")
    return Section(
        "method",
        "How the numbers were made",
        [element("ul", *(element("li", point) for point in points)), source],
    )
