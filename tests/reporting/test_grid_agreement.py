"""The sweep's grid and the report's are one: every run of the paper lands in its cell."""

from __future__ import annotations

from rilco.experiment.published import load_published, paper
from rilco.reporting.cells import cell_key, changed_settings


def test_every_run_of_the_paper_has_its_published_cell() -> None:
    configs = list(paper(seeds=(1,)))
    assert {cell_key(config) for config in configs} == set(load_published())
    assert len(configs) == len(load_published())


def test_the_papers_runs_have_the_papers_settings() -> None:
    assert [line for config in paper(seeds=(1,)) for line in changed_settings(config)] == []
