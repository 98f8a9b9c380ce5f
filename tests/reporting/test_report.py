"""`rilco report` from a folder of runs to a page, and what it says when it cannot."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.reporting.conftest import Report
from tests.reporting.runs import add_cells, write_run

from rilco.cli import cli
from rilco.errors import ConfigError, RilcoError, RunError, WriteError
from rilco.reporting.build import report as write_report
from rilco.reporting.drawing import Drawn
from rilco.reporting.html import Markup, element


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty figures, for tests that are about something else: drawing takes most of a report's time."""
    monkeypatch.setattr(
        "rilco.reporting.build.draw_figure",
        lambda figure: Drawn(figure.name, str(figure.methods), b"", b"<svg/>"),
    )


class Page(HTMLParser):
    """Tags of a page, and whether they close as they should."""

    VOID = frozenset({"meta", "link", "img", "br", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def words(html: str) -> str:
    """The page's text."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.split("</style>")[1]))


def test_figures_are_also_files(report: Report) -> None:
    names = {file.name for file in (report.page.parent / "figures").iterdir()}
    wanted = (
        "final",
        "curves-0",
        "curves-0.4",
        "ablation-final",
        "ablation-curves-0.4",
        "gaussian-0.4",
        "over-tasks",
        "seeds",
    )
    assert {f"{name}.{ending}" for name in (*wanted, "other-1") for ending in ("png", "svg")} == names
    for file in (report.page.parent / "figures").iterdir():
        magic = b"\x89PNG" if file.suffix == ".png" else b"<?xml"
        assert file.read_bytes().startswith(magic)


def test_the_page_needs_nothing_beside_it(report: Report) -> None:
    page = Page(report.html)
    assert all(image["src"].startswith("data:image/") for image in page.all("img"))
    assert not page.all("script")
    assert all(link["href"].startswith("data:") for link in page.all("link"))
    assert "@import" not in report.html
    assert "url(" not in report.html.split("</style>")[0]


def test_every_image_has_words_and_every_link_a_target(report: Report) -> None:
    page = Page(report.html)
    assert page.all("img")
    assert all(len(image["alt"]) > 20 for image in page.all("img"))
    anchors = {attributes["id"] for _, attributes in page.tags if attributes.get("id")}
    assert len(anchors) == sum(1 for _, attributes in page.tags if attributes.get("id"))
    for link in page.all("a"):
        href = link["href"]
        if href.startswith("#"):
            assert href[1:] in anchors
        elif not href.startswith("https://"):
            assert (report.page.parent / href).is_file()


def test_tables_have_headers_for_rows_and_columns(report: Report) -> None:
    page = Page(report.html)
    assert len(page.all("table")) == len(page.all("caption")) > 5
    assert {header["scope"] for header in page.all("th")} >= {"col", "row", "rowgroup"}


def test_names_cannot_become_tags(report: Report) -> None:
    assert "<b>bold" not in report.html
    assert "&lt;b&gt;bold" in report.html
    assert "notes &amp; more.txt" in report.html


def test_what_was_skipped_or_left_out_is_listed_with_its_reason(report: Report) -> None:
    text = words(report.html)
    assert "num_envs = 16" in text
    assert "this version reads" in text
    assert "not a rilco run&#x27;s configuration" in text
    assert "mine-again the same run as mine" in text
    assert "not a run; runs are folders" in text
    assert str(report.results) not in report.html  # paths are shown without the folders of one machine


def test_final_table_shows_ours_beside_both_published_values(report: Report) -> None:
    from rilco.experiment.published import CellKey
    from rilco.reporting.cells import sort_results
    from rilco.reporting.tables import estimate_text
    from rilco.runs.results import read_results

    cell = sort_results(read_results(report.results)).cells[CellKey("hopper", "policy", 0.4, "gail-logistic")]
    found = re.findall(r"GAIL \(logistic\)</th>(.*?)</tr>", report.html)
    row = next(line for line in found if estimate_text(cell.final) in line)
    for text in (
        estimate_text(cell.published_here),
        estimate_text(cell.published.final),
        "2 M",
    ):
        assert f">{text}</td>" in row


def test_runs_of_the_users_own_environment_are_shown(report: Report) -> None:
    assert "Pendulum-v1" in words(report.html)
    assert "Other environments" in words(report.html)


# -- bad input -----------------------------------------------------------------------------------


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match=r"empty: there is no run in this folder\..*rilco sweep"):
        write_report(tmp_path / "empty", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such folder"):
        write_report(tmp_path / "nowhere", tmp_path / "out")


def test_a_folder_of_nothing_but_torn_runs_says_why(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "config.json").write_text("{")
    with pytest.raises(RunError, match=r"no run in this folder can be read.*And 1 more"):
        write_report(tmp_path / "results", tmp_path / "out")


@pytest.mark.parametrize("evaluations", [0, 1])
def test_a_single_run_that_has_hardly_begun(tmp_path: Path, evaluations: int) -> None:
    write_run(tmp_path / "results" / "one", np.ones(evaluations), finished=False)
    html = write_report(tmp_path / "results", tmp_path / "out").read_text()
    Page(html)
    assert ("not evaluated yet" if evaluations == 0 else "Runs that are not finished yet: 1.") in words(html)


def test_a_method_that_the_paper_does_not_have(tmp_path: Path, undrawn: None) -> None:
    root = add_cells(tmp_path / "results", "ril-co", evaluations=3)
    write_run(root / "new", [1.0] * 3, method="gail", demos=("policy.npz",))
    html = write_report(root, tmp_path / "out").read_text()
    Page(html)
    assert "&#x27;gail&#x27;" in html  # among the methods of a figure


def test_stale_figures_go_and_other_files_stay(tmp_path: Path, undrawn: None) -> None:
    out = tmp_path / "out" / "figures"
    out.mkdir(parents=True)
    (out / "curves-0.3.png").write_bytes(b"old")
    (out / "mine.png").write_bytes(b"mine")
    (out / "final.txt").write_bytes(b"mine")
    write_run(tmp_path / "results" / "one", [])
    write_report(tmp_path / "results", tmp_path / "out")
    assert not (out / "curves-0.3.png").exists()
    assert (out / "mine.png").read_bytes() == (out / "final.txt").read_bytes() == b"mine"


def test_an_out_that_is_a_file(tmp_path: Path) -> None:
    write_run(tmp_path / "results" / "one", [1.0])
    (tmp_path / "out").write_text("")
    with pytest.raises(WriteError, match=r"out/figures.*: could not be written"):
        write_report(tmp_path / "results", tmp_path / "out")


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "results" / "one", [1.0])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"pip install '\.\[plot\]'"):
        write_report(tmp_path / "results", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# -- the command ----------------------------------------------------------------------


def test_the_command(tmp_path: Path, undrawn: None) -> None:
    write_run(tmp_path / "results" / "one", [])
    out = tmp_path / "out"
    result = CliRunner().invoke(cli, ["report", str(tmp_path / "results"), "--out", str(out)])
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == f"Report: {out / 'index.html'}"
    assert (out / "index.html").is_file()


def test_the_command_passes_our_errors_on(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["report", str(tmp_path / "no"), "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, RilcoError)


def test_html_is_escaped_unless_it_is_markup() -> None:
    assert element("p", "a<b", title='"&') == '<p title="&quot;&amp;">a&lt;b</p>'
    assert (
        element("p", Markup("<i>x</i>"), class_="k", hidden=True, id=False)
        == '<p class="k" hidden><i>x</i></p>'
    )
    assert element("img", data_x="1") == '<img data-x="1">'
