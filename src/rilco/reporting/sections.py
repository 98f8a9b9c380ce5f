"""The sections of the page: an entry each in `SECTIONS`. One without figures and other parts is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import NamedTuple

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
    "seeds": "Every run by itself, in the same million transitions. Hollow: published. Filled: ours. Bars: means.",
    "final": "Final return against noise rate. Filled markers are ours, with standard errors over seeds. Dashed lines with bands "
    "are the published after 20 million transitions. Hollow markers are the published after as many transitions as ours.",
    "curves": "Learning curves at noise rate {rate}. Solid: ours. Dashed: published.",
    "gaussian": "Learning curves at noise rate {rate}. Solid: ours. Dashed: published.",
    "over-tasks": "Interquartile mean over the tasks, with its 95% interval where every task has at least two runs. The black tick "
    "is the mean of the published curves after as many transitions as ours, as shares of the paper’s experts.",
    "other": "Learning curves: return against transitions.",
}
"""Of figures, by how their names begin."""


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


class Section(NamedTuple):
    """A section of the page: what it is about, then its figures, then other parts."""

    title: str
    about: str = ""
    figures: str = "none"
    """How the names of its figures begin."""
    parts: Callable[[Content], Iterator[Markup]] = lambda content: iter(())


def all_sections(content: Content) -> dict[str, tuple[str, list[Markup]]]:
    """Title and parts of each section, by its anchor."""
    made = {}
    for name, section in SECTIONS.items():
        figures = [figure for each, figure in content.figures.items() if each.startswith(section.figures)]
        parts = [*map(figure_block, figures), *section.parts(content)]
        if parts:
            about = [element("p", section.about)] if section.about else []
            made[name] = section.title, [*about, *parts]
    return made


def figure_block(figure: Drawn) -> Markup:
    """A figure in a box that scrolls by itself, with links to its files."""
    name = figure.name.removeprefix("ablation-")
    kind = next(kind for kind in CAPTIONS if name.startswith(kind))
    caption = CAPTIONS[kind].format(rate=name.removeprefix(f"{kind}-"))
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


def summary_parts(content: Content) -> Iterator[Markup]:
    sentences = summary(content.found, content.seeds)
    yield element("ul", *(element("li", sentence) for sentence in sentences), class_="summary")
    if mind := caveats(content.found):
        yield element("p", " ".join(mind), class_="note")


def final_parts(content: Content) -> Iterator[Markup]:
    if not content.found.cells:
        return
    experts = [
        f"{task_label(task)} {number(value)} ({number(PUBLISHED_RETURNS[task][0])})"
        for task, value in content.experts.items()
    ]
    yield element(
        "p",
        "The dotted line is the return of the expert that comes with rilco, with that of the paper’s in brackets: "
        f"{listed(experts)}. Returns also differ because the experts do.",
    )
    yield tables.final_tables(content.found.cells)


def left_out_parts(content: Content) -> Iterator[Markup]:
    if content.found.aside:
        yield element(
            "p",
            "Only like is averaged with like. These runs differ from their neighbours in their settings or their data, "
            "learn from the true reward, or have no evaluation yet:",
        )
        yield tables.aside_table(content.found.aside, content.root)
    if content.found.skipped:
        yield element("p", "These could not be read as a run, or are the same run twice:")
        yield tables.skipped_table(content.found.skipped, content.root)


SECTIONS = {
    "summary": Section(
        "Summary",
        "A policy is learned from demonstrations. Some of them, the noise, come from worse demonstrators than the "
        "expert, and nothing says which. Ordinary imitation copies the noise, too; RIL-Co is meant not to. "
        "Every number of ours stands beside the one that the authors published.",
        parts=summary_parts,
    ),
    "seeds": Section(
        "Seeds against seeds",
        "Do our runs and the published ones come from one distribution? Each run counts with the mean of its "
        "evaluations in one million transitions: the second, and the last that two runs have. Welch’s test compares "
        "the two groups. Holm’s correction allows for the number of cells.",
        figures="seeds",
        parts=lambda content: iter([tables.seeds_table(content.seeds)] if content.seeds else []),
    ),
    "final": Section(
        "Final return",
        "The final return of a run is the mean of its evaluations over its last 640,000 transitions. The paper’s runs "
        "have 20 million. Shorter runs of ours stand beside the published return after as many transitions, and "
        "beside the published return in the end.",
        figures="final",
        parts=final_parts,
    ),
    "curves": Section(
        "Learning curves",
        "Return of the deterministic policy during training, averaged over stretches of 400,000 transitions, as the "
        "published curves are. Shading is the standard error over seeds. BC collects no transitions; its axis counts "
        "training iterations, at 640 each.",
        figures="curves-",
    ),
    "ablation": Section(
        "Ablation",
        "RIL-Co with parts replaced. The logistic loss, which is not symmetric, replaces AP. In RIL-P one classifier "
        "labels for itself, instead of two that label for each other. The authors’ code of RIL-P gives its "
        "pseudo-labels no gradient. rilco follows the paper’s equation, so there the two may differ.",
        figures="ablation-",
    ),
    "gaussian": Section(
        "Gaussian noise",
        "Another noise: the expert’s own actions with Gaussian noise added. VILD assumes this of its data, and on Ant "
        "it does well in the paper.",
        figures="gaussian-",
    ),
    "over-tasks": Section(
        "Over the tasks",
        "Returns are divided by the expert’s, so that tasks can be put together. The interquartile mean is the mean of "
        "the middle half of all runs. Its interval comes from drawing the runs of each task again, 10,000 times. "
        "“RIL-Co better” is the probability that a run of RIL-Co returns more than a run of the other method on the "
        "same task, averaged over the tasks that both have. Compare only methods that were run on the same tasks.",
        figures="over-tasks",
        parts=lambda content: (tables.score_table(rate, rows) for rate, rows in content.scores.items()),
    ),
    "others": Section(
        "Other environments",
        "Runs for which nothing is published: other environments, demonstrations or versions of rilco.",
        figures="other-",
        parts=lambda content: iter(
            [tables.other_table(content.found.others)] if content.found.others else []
        ),
    ),
    "left-out": Section("Left out", parts=left_out_parts),
    "method": Section(
        "How the numbers were made",
        parts=lambda _: iter(
            [Markup((resources.files("rilco.reporting") / "assets/method.html").read_text())]
        ),
    ),
}
