"""The sections of the page. Each is a function of the content that yields its parts; one that yields none is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from rilco.data.ladder import PUBLISHED_RETURNS
from rilco.experiment.published import ABLATION, GAUSSIAN, POLICY, RATES
from rilco.reporting import tables
from rilco.reporting.aggregate import MethodScore
from rilco.reporting.blocks import figure_block, strip_blocks, video_blocks
from rilco.reporting.cells import Sorted
from rilco.reporting.drawing import Figure
from rilco.reporting.html import Markup, element
from rilco.reporting.media import Media
from rilco.reporting.seeds import SeedComparison
from rilco.reporting.style import number, task_label
from rilco.reporting.summary import caveats, summary
from rilco.words import listed, plural


@dataclass(frozen=True)
class Content:
    """Everything that the page shows."""

    root: Path
    """The results folder; paths are shown relative to it."""
    found: Sorted
    """Its runs."""
    figures: Mapping[str, Figure]
    """By name."""
    experts: Mapping[str, float]
    """Their returns by task."""
    scores: Mapping[float, Sequence[MethodScore]]
    """By noise rate."""
    seeds: Sequence[SeedComparison]
    """Of the cells that have published runs."""
    media: Media


def all_sections(content: Content) -> dict[str, tuple[str, list[Markup]]]:
    """Title and parts of each section, by its anchor."""
    made = {name: (title, list(make(content))) for name, (title, make) in SECTIONS.items()}
    return {name: section for name, section in made.items() if section[1]}


def paragraph(*children: str) -> Markup:
    return element("p", *children)


def note(text: str) -> Markup:
    return element("p", text, class_="note")


def summary_section(content: Content) -> Iterator[Markup]:
    yield paragraph(
        "A policy is learned from demonstrations. A part of them, the noise, comes from worse demonstrators than the "
        "expert, and nothing says which part. Ordinary imitation copies the noise, too; RIL-Co is meant not to. "
        "Every number of ours stands beside the one that the authors published."
    )
    yield element("ul", *(element("li", sentence) for sentence in summary(content.found)), class_="summary")
    if mind := caveats(content.found):
        yield note(" ".join(mind))


def seeds_section(content: Content) -> Iterator[Markup]:
    if not content.seeds:
        return
    yield paragraph(
        "Do our runs and the published ones come from one distribution? Each run counts with the mean of its "
        "evaluations in the last whole million of transitions that all runs of its cell have. Welch’s test compares "
        "the two groups. Holm’s correction allows for the number of cells."
    )
    caption = "Every run by itself, in the same million of transitions. Hollow: published. Filled: ours. Bars: means."
    yield figure_block(content.figures["seeds"], caption)
    yield tables.seeds_table(content.seeds)


def final_section(content: Content) -> Iterator[Markup]:
    yield paragraph(
        "The final return of a run is the mean of its evaluations over its last 640,000 transitions. The paper’s runs "
        "have 20 million. Shorter runs of ours are compared twice: with the published return after as many "
        "transitions, and with the published return in the end."
    )
    experts = [
        f"{task_label(task)} {number(value)} ({number(PUBLISHED_RETURNS[task][0])})"
        for task, value in content.experts.items()
    ]
    yield paragraph(
        "The dotted line is the return of the expert that comes with rilco, with that of the paper’s in brackets: "
        f"{listed(experts)}. Returns also differ because the experts do."
    )
    yield figure_block(
        content.figures["final"],
        "Final return against noise rate. Filled markers with error bars (standard error over seeds) are ours. Dashed "
        "lines with bands are the published means and standard errors after 20 million transitions. Hollow markers are "
        "the published curve at the length of our runs.",
    )
    cells = content.found.cells
    if cells:
        yield tables.final_tables(cells)
    if any(len(cell.runs) == 1 for cell in cells.values()):
        yield note("† A single run of ours: it is taken to scatter as single published runs do.")


def curve_section(content: Content) -> Iterator[Markup]:
    rates = [name.removeprefix("curves-") for name in content.figures if name.startswith("curves-")]
    if not rates:
        return
    yield paragraph(
        "Return of the deterministic policy during training, averaged over stretches of 400,000 transitions, as the "
        "published curves are. Shading is the standard error over seeds. BC collects no transitions; its axis counts "
        "training iterations, at 640 each."
    )
    for rate in rates:
        caption = f"Learning curves at noise rate {rate}; solid ours, dashed published."
        yield element("h3", f"Noise rate {rate}")
        yield figure_block(content.figures[f"curves-{rate}"], caption)
    absent = [f"{rate:g}" for rate in RATES if rate not in {float(rate) for rate in rates}]
    if absent:
        yield note(f"Nothing was run here at noise rate {listed(absent)}.")


def ablation_section(content: Content) -> Iterator[Markup]:
    yield paragraph(
        "RIL-Co with parts replaced. The logistic loss, which is not symmetric, replaces AP. In RIL-P one classifier "
        "labels for itself, instead of two that label for each other. The authors’ code of RIL-P gives its "
        "pseudo-labels no gradient. rilco follows the paper’s equation, so there the two may differ."
    )
    if not any(key.noise == POLICY and key.method in ABLATION[1:] for key in content.found.cells):
        yield note("No variant was run here; the published values are drawn.")
    caption = "Final return of RIL-Co and its variants against noise rate; markers and lines as in the first figure."
    yield figure_block(content.figures["ablation"], caption)
    for name, figure in content.figures.items():
        if name.startswith("ablation-curves-"):
            rate = name.removeprefix("ablation-curves-")
            yield element("h3", f"Noise rate {rate}")
            yield figure_block(
                figure, f"Learning curves of the variants at noise rate {rate}; solid ours, dashed published."
            )


def gaussian_section(content: Content) -> Iterator[Markup]:
    yield paragraph(
        "Another noise: the expert’s own actions with Gaussian noise added, on Ant. VILD assumes this of its data, and "
        "here it does well."
    )
    if not any(key.noise == GAUSSIAN for key in content.found.cells):
        yield note("Not run here; the published curves are drawn.")
    caption = "Learning curves on Ant with Gaussian noise; solid ours, dashed published."
    yield figure_block(content.figures["gaussian"], caption)


def score_section(content: Content) -> Iterator[Markup]:
    if not content.scores:
        return
    experts = [f"{task_label(task)} {number(value)}" for task, value in content.experts.items()]
    yield paragraph(
        "Returns are divided by the expert’s, so that tasks can be put together. The interquartile mean is the mean of "
        "the middle half of all runs. Its interval comes from drawing the runs of each task again, 10,000 times. "
        "“RIL-Co better” is the probability that a run of RIL-Co returns more than a run of the other method on the "
        "same task, averaged over the tasks that both have. Compare only methods that were run on the same tasks. "
        f"Experts’ returns: {listed(experts)}."
    )
    yield figure_block(
        content.figures["over-tasks"],
        "Interquartile mean over the tasks, with its 95% interval where every task has at least two runs. The black "
        "tick is the mean of the published curves at the length of our runs, as shares of the paper’s experts.",
    )
    for rate, scores in content.scores.items():
        yield tables.score_table(rate, scores)


def other_section(content: Content) -> Iterator[Markup]:
    if not content.found.others:
        return
    yield paragraph(
        "Runs for which nothing is published: other environments, demonstrations or versions of rilco."
    )
    for name, figure in content.figures.items():
        if name.startswith("other-"):
            yield figure_block(figure, "Learning curves: return against transitions.")
    yield tables.other_table(content.found.others)


def frame_section(content: Content) -> Iterator[Markup]:
    media = content.media
    if media.strips:
        yield paragraph(
            "The first 100 steps of an episode, by the expert and by the policy that RIL-Co learned."
        )
        yield strip_blocks(media.strips)
    if media.videos:
        yield video_blocks(media.videos)
    if media.more_videos:
        yield note(f"{plural(media.more_videos, 'more video')} in the run folders.")
    if media.complaints:
        lines = [f"{listed(who)}: {reason.rstrip('.')}." for reason, who in media.complaints.items()]
        yield note("Not shown, and why:")
        yield element("ul", *(element("li", line) for line in lines), class_="note")


def loss_section(content: Content) -> Iterator[Markup]:
    yield paragraph(
        "The theory asks for a symmetric loss: l(z) + l(−z) is constant. Then the classifier that is best on noisy "
        "demonstrations is also best on clean ones. The unhinged loss is symmetric but unbounded below."
    )
    yield figure_block(
        content.figures["losses"], "The losses of the paper’s Table 1, as rilco computes them."
    )


def coverage_section(content: Content) -> Iterator[Markup]:
    yield paragraph(
        "The number of runs in every cell of the paper’s grid. A dot is a cell of the paper that was not run here."
    )
    yield tables.coverage_table(content.found.cells)


def left_out_section(content: Content) -> Iterator[Markup]:
    if content.found.aside:
        yield paragraph(
            "Only like is averaged with like. These runs differ from their neighbours in their settings or their data, "
            "learn from the true reward, or have no evaluation yet:"
        )
        yield tables.aside_table(content.found.aside, content.root)
    if content.found.skipped:
        yield paragraph("These could not be read as a run, or are the same run twice:")
        yield tables.skipped_table(content.found.skipped, content.root)


def method_section(content: Content) -> Iterator[Markup]:
    yield Markup((resources.files("rilco.reporting") / "assets" / "method.html").read_text())


SECTIONS = {
    "summary": ("Summary", summary_section),
    "seeds": ("Seeds against seeds", seeds_section),
    "final": ("Final return", final_section),
    "curves": ("Learning curves", curve_section),
    "ablation": ("Ablation", ablation_section),
    "gaussian": ("Gaussian noise", gaussian_section),
    "over-tasks": ("Over the tasks", score_section),
    "others": ("Other environments", other_section),
    "frames": ("What it looks like", frame_section),
    "losses": ("The losses", loss_section),
    "coverage": ("What was run, and what not", coverage_section),
    "left-out": ("Left out", left_out_section),
    "method": ("How the numbers were made", method_section),
}
