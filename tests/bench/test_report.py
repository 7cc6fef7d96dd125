"""Reports say what was measured, in forms that data cannot break out of."""

import re
from html.parser import HTMLParser

import pytest

from tests.bench.made import right, row, spam_set
from yesno import FakeProvider
from yesno._rows import Row as Line
from yesno.bench.documents import report_document
from yesno.bench.markdown import markdown_of
from yesno.bench.pages import page_of
from yesno.bench.reporting import report_of, way_names
from yesno.bench.rows import Way
from yesno.bench.running import run
from yesno.bench.runs import Run, RunCard, SetCard, load_run
from yesno.bench.tables import tables_of
from yesno.bench.writing import write_report
from yesno.errors import ConfigError
from yesno.labelled import set_of

EVIL = "<script>alert('x')</script>|`*\"&"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    return run(
        [spam_set(30)],
        models={"good": FakeProvider(right), "bad": FakeProvider({"Yes": 0.6, "No": 0.4})},
        out=folder / "run",
        command="yesno bench spam.jsonl",
    )


@pytest.fixture(scope="module")
def report(two):
    return report_of([two], sets={"spam": spam_set(30)}, draws=50)


class Page(HTMLParser):
    """What a page is made of."""

    VOID = ("meta", "link", "br", "line", "circle", "path")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_needs_no_other_file_and_runs_no_script(report):
    page = page_of(report)
    parsed = Page(page)
    assert parsed.open == []
    assert parsed.links == []
    assert "script" not in parsed.tags
    assert not re.search(r"@import|url\(|https?://", page)
    assert parsed.tags.count("svg") >= 3


def test_a_page_shows_scores_differences_pictures_and_what_is_disputed(report):
    page = page_of(report)
    for words in ("Scores", "Paired differences", "ECE by chance", "Risk over coverage", "disagree most"):
        assert words in page
    assert page.count("<figure>") == 3
    assert "message 2" in page
    assert "yesno bench spam.jsonl" in page


def test_what_comes_from_data_is_escaped_in_every_form(tmp_path):
    evil = set_of(
        [
            Line(
                n,
                {
                    "id": f"{EVIL}{n}",
                    "input": EVIL,
                    "question": {"type": "yesno", "text": "?"},
                    "label": n % 2,
                },
            )
            for n in range(1, 9)
        ],
        EVIL,
    )
    models = {EVIL: FakeProvider(), "b": FakeProvider({"Yes": 0.1, "No": 0.9})}
    done = run([evil], models=models, out=tmp_path / "run", command=EVIL)
    report = report_of([done], sets={EVIL: evil}, draws=20)
    assert report.disputes
    page = page_of(report)
    assert "<script" not in page
    assert Page(page).open == []
    assert "&lt;script&gt;" in page
    text = markdown_of(report)
    outside = [
        line for line in text.splitlines() if not line.startswith("  - `")
    ]  # that is a command, as code
    assert not any(re.search(r"(?<!\\)<", line) for line in outside)
    cells = {
        len(re.findall(r"(?<!\\)\|", line)) for line in outside if line.startswith("| ") and "yes/no" in line
    }
    assert len(cells) <= 4


def test_inputs_are_shown_only_where_the_set_is_at_hand_and_they_are_wanted(two):
    alone = load_run(two.folder)
    assert all(one.text is None for one in report_of([alone], draws=20).disputes)
    assert all(
        one.text is None
        for one in report_of([two], sets={"spam": spam_set(30)}, texts=False, draws=20).disputes
    )
    assert all(one.text is None for one in report_of([two], texts=False, draws=20).disputes)


def test_a_run_that_was_just_made_shows_the_inputs_that_it_asked(two):
    disputes = report_of([two], draws=20).disputes
    assert disputes
    assert all(one.text.startswith("message ") for one in disputes)


def test_markdown_has_a_row_for_each_set_and_model(report):
    text = markdown_of(report)
    assert len(re.findall(r"^\| spam yes/no \| good \|", text, re.MULTILINE)) == 3
    assert len(re.findall(r"^\| spam yes/no \| bad \| good \|", text, re.MULTILINE)) == 1
    assert "## Where the models disagree most" in text


def test_tables_have_a_figure_for_each_column(report):
    for table in tables_of(report):
        assert all(len(found) == len(table.columns) for found in table.rows), table.title


def test_a_difference_is_called_worse_only_where_its_interval_leaves_0_out(report):
    table = next(table for table in tables_of(report) if table.id == "differences")
    marks = dict(zip(table.columns, (figure.mark for figure in table.rows[0]), strict=True))
    assert marks["log loss"] == "worse"
    assert marks["accuracy"] == "worse"


def test_the_document_holds_the_same_numbers(report):
    document = report_document(report)
    [good, bad] = document["cells"]
    assert (good["model"], bad["model"]) == ("good", "bad")
    assert good["scores"]["log_loss"]["value"] < bad["scores"]["log_loss"]["value"]
    assert document["differences"][0]["metrics"]["log_loss"]["excludes_zero"]


def test_a_report_is_the_same_when_it_is_made_again(two, tmp_path):
    first = write_report(report_of([load_run(two.folder)], draws=20), tmp_path)
    pages = [path.read_bytes() for path in first]
    again = write_report(report_of([load_run(two.folder)], draws=20), tmp_path)
    assert [path.read_bytes() for path in again] == pages
    assert {path.name for path in tmp_path.iterdir()} == {"report.md", "report.html"}


def made(rows, folder, version="a" * 64):
    return Run(folder, RunCard({"spam": SetCard(version, 1)}), tuple(rows))


def test_runs_of_several_people_are_reported_together_but_not_of_two_versions_or_twice_the_same(tmp_path):
    one, other = made([row(model="a")], tmp_path / "one"), made([row(model="b")], tmp_path / "other")
    assert [cell.way.model for cell in report_of([one, other], draws=20).cells] == ["a", "b"]
    with pytest.raises(ConfigError, match="different versions of set 'spam'"):
        report_of([one, made([row(model="b", data="b" * 64)], tmp_path, version="b" * 64)])
    with pytest.raises(ConfigError, match="two of the runs hold a · default · auto on item '1'"):
        report_of([one, one])
    with pytest.raises(ConfigError, match="no rows to report"):
        report_of([made([], tmp_path)])


def test_what_was_planned_and_is_missing_is_told(tmp_path):
    run_ = Run(tmp_path, RunCard({"spam": SetCard("a" * 64, 3)}), (row(),))
    report = report_of([run_], draws=20)
    assert report.unasked == 2
    assert "2 planned rows are not there" in markdown_of(report)


def test_a_way_that_has_no_row_yet_is_missing_as_well(tmp_path):
    ways = (Way("fake", "default", "auto"), Way("other", "default", "auto"))
    run_ = Run(tmp_path, RunCard({"spam": SetCard("a" * 64, 3, ways=ways)}), (row(),))
    assert report_of([run_], draws=20).unasked == 5


def test_ways_are_named_by_what_tells_them_apart():
    one, other = Way("m", "default", "auto"), Way("n", "default", "auto")
    assert [*way_names([one, other]).values()] == ["m", "n"]
    assert [*way_names([one, Way("m", "few_shot", "auto")]).values()] == ["m · default", "m · few_shot"]
    assert [*way_names([one, Way("m", "default", "sampled")]).values()] == ["m · auto", "m · sampled"]
