"""The sections of the page. Each is a function of the content that yields its parts; one that yields none is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from rilco.experiment.published import PUBLISHED_RETURNS
from rilco.reporting import tables
from rilco.reporting.aggregate import MethodScore
from rilco.reporting.cells import Sorted
from rilco.reporting.drawing import Drawn
from rilco.reporting.html import Markup, data_uri, element
from rilco.reporting.seeds import SeedComparison
from rilco.reporting.style import number, task_label
from rilco.reporting.summary import caveats, summary
from rilco.words import listed

CAPTIONS = {
    "final": "Final return against noise rate; markers are ours, dashed lines published.",
    "losses": "The losses of the paper’s Table 1, as rilco computes them.",
    "other": "Learning curves: return against transitions.",
}
"""Of figures that are not learning curves at one noise rate, beside the published."""


@dataclass(frozen=True)
class Content:
    """Everything that the page shows."""

    root: Path
    """The results folder; paths are shown relative to it."""
    found: Sorted
    """Its runs."""
    figures: Mapping[str, Drawn]
    """By name."""
    experts: Mapping[str, float]
    """Their returns by task."""
    scores: Mapping[float, Sequence[MethodScore]]
    """By noise rate."""
    seeds: Sequence[SeedComparison]
    """Of the cells that have published runs."""


Section = Callable[[Content], Iterator[Markup]]


def all_sections(content: Content) -> dict[str, tuple[str, list[Markup]]]:
    """Title and parts of each section, by its anchor."""
    made = {name: (title, list(make(content))) for name, (title, make) in SECTIONS.items()}
    return {name: section for name, section in made.items() if section[1]}


def paragraph(*children: str) -> Markup:
    return element("p", *children)


def note(text: str) -> Markup:
    return element("p", text, class_="note")


def figure_block(figure: Drawn, caption: str) -> Markup:
    """A figure in a box that scrolls by itself, with links to its files."""
    image = element("img", src=data_uri("image/svg+xml", figure.svg), alt=figure.alt)
    png = element("a", "PNG", href=f"figures/{figure.name}.png")
    svg = element("a", "SVG", href=f"figures/{figure.name}.svg")
    return element(
        "figure",
        element("div", image, class_="scroll", tabindex="0", role="region", aria_label=caption),
        element("figcaption", caption + " ", element("span", "Files: ", png, ", ", svg, ".", class_="files")),
        class_="wide",
        id=f"figure-{figure.name}",
    )


def summary_section(content: Content) -> Iterator[Markup]:
    yield paragraph(
        "A policy is learned from demonstrations. A part of them, the noise, comes from worse demonstrators than the "
        "expert, and nothing says which part. Ordinary imitation copies the noise, too; RIL-Co is meant not to. "
        "Every number of ours stands beside the one that the authors published."
    )
    yield element(
        "ul",
        *(element("li", sentence) for sentence in summary(content.found, content.seeds)),
        class_="summary",
    )
    if mind := caveats(content.found):
        yield note(" ".join(mind))


def seeds_section(content: Content) -> Iterator[Markup]:
    if not content.seeds:
        return
    yield paragraph(
        "Do our runs and the published ones come from one distribution? Each run counts with the mean of its "
        "evaluations in one million of transitions: the second, and the last that two runs have. Welch’s test compares "
        "the two groups. Holm’s correction allows for the number of cells."
    )
    caption = "Every run by itself, in the same million of transitions. Hollow: published. Filled: ours. Bars: means."
    yield figure_block(content.figures["seeds"], caption)
    yield tables.seeds_table(content.seeds)


def final_section(content: Content) -> Iterator[Markup]:
    if not content.found.cells:
        return
    yield paragraph(
        "The final return of a run is the mean of its evaluations over its last 640,000 transitions. The paper’s runs "
        "have 20 million. Shorter runs of ours stand beside the published return after as many transitions, and "
        "beside the published return in the end."
    )
    experts = [
        f"{task_label(task)} {number(value)} ({number(PUBLISHED_RETURNS[task][0])})"
        for task, value in content.experts.items()
    ]
    yield paragraph(
        "The dotted line is the return of the expert that comes with rilco, with that of the paper’s in brackets: "
        f"{listed(experts)}. Returns also differ because the experts do."
    )
    if "final" in content.figures:
        yield figure_block(
            content.figures["final"],
            "Final return against noise rate. Filled markers with error bars (standard error over seeds) are ours. "
            "Dashed lines with bands are the published means and standard errors after 20 million transitions. Hollow "
            "markers are the published curve at the length of our runs.",
        )
    yield tables.final_tables(content.found.cells)


def figures_section(prefix: str, about: str) -> Section:
    """A section of the figures with this prefix, after what they are about."""

    def make(content: Content) -> Iterator[Markup]:
        found = {name: figure for name, figure in content.figures.items() if name.startswith(prefix)}
        if found:
            yield paragraph(about)
        for name, figure in found.items():
            kind, _, rate = name.removeprefix("ablation-").partition("-")
            caption = f"Learning curves at noise rate {rate}; solid ours, dashed published."
            yield figure_block(figure, CAPTIONS.get(kind, caption))

    return make


curve_section = figures_section(
    "curves-",
    "Return of the deterministic policy during training, averaged over stretches of 400,000 transitions, as the published "
    "curves are. Shading is the standard error over seeds. BC collects no transitions; its axis counts training "
    "iterations, at 640 each.",
)
ablation_section = figures_section(
    "ablation-",
    "RIL-Co with parts replaced. The logistic loss, which is not symmetric, replaces AP. In RIL-P one classifier labels "
    "for itself, instead of two that label for each other. The authors’ code of RIL-P gives its pseudo-labels no gradient. "
    "rilco follows the paper’s equation, so there the two may differ.",
)
gaussian_section = figures_section(
    "gaussian-",
    "Another noise: the expert’s own actions with Gaussian noise added. VILD assumes this of its data, and on Ant it does "
    "well in the paper.",
)


def other_section(content: Content) -> Iterator[Markup]:
    about = "Runs for which nothing is published: other environments, demonstrations or versions of rilco."
    yield from figures_section("other-", about)(content)
    if content.found.others:
        yield tables.other_table(content.found.others)


def score_section(content: Content) -> Iterator[Markup]:
    if not content.scores:
        return
    yield paragraph(
        "Returns are divided by the expert’s, so that tasks can be put together. The interquartile mean is the mean of "
        "the middle half of all runs. Its interval comes from drawing the runs of each task again, 10,000 times. "
        "“RIL-Co better” is the probability that a run of RIL-Co returns more than a run of the other method on the "
        "same task, averaged over the tasks that both have. Compare only methods that were run on the same tasks."
    )
    yield figure_block(
        content.figures["over-tasks"],
        "Interquartile mean over the tasks, with its 95% interval where every task has at least two runs. The black "
        "tick is the mean of the published curves at the length of our runs, as shares of the paper’s experts.",
    )
    for rate, scores in content.scores.items():
        yield tables.score_table(rate, scores)


loss_section = figures_section(
    "losses",
    "The theory asks for a symmetric loss: l(z) + l(−z) is constant. Then the classifier that is best on noisy "
    "demonstrations is also best on clean ones. The unhinged loss is symmetric but unbounded below.",
)


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
    "losses": ("The losses", loss_section),
    "left-out": ("Left out", left_out_section),
    "method": ("How the numbers were made", method_section),
}
