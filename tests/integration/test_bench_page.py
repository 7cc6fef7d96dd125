"""The page of a report in a real browser: it fits phones and paper, by day and by night."""

import json
import random
import re
import shutil
import subprocess
from html import escape, unescape

import pytest

from tests.bench.made import spam_set
from yesno import FakeProvider
from yesno.bench import report_of, run, write_report

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-extensions",
]
PHONE = 360
"""Pixels across a small phone; a browser's own window does not get so narrow, a frame does."""

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)"
    ),
]


def browse(folder, *words, page):
    """Start the browser on a page, and return what it prints."""
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(  # noqa: S603
        [CHROMIUM, *FLAGS, profile, *words, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the page of a run with three models, two sets and every kind of trouble."""

    def script(sure):
        def reply(prompt):
            draw = random.Random(prompt + str(sure))
            if draw.random() < 0.05:
                return {"<refusal>": 1}
            yes = draw.random() ** sure
            return {"Yes": 0.98 * yes, "No": 0.98 * (1 - yes)}

        return FakeProvider(reply)

    folder = tmp_path_factory.mktemp("page")
    models = {
        "openai:gpt-5.4-mini-2026-03-17": script(1),
        "a-very-long-name-without-any-place-to-break/it-of-a-model-that-somebody-tuned": script(2),
        "local:<b>bold</b>": script(0.5),
    }
    sets = [spam_set(60, "mails"), spam_set(60, "a_set_with_quite_a_long_name_of_its_own")]
    done = run(sets, models=models, out=folder / "run", command="yesno bench mails.jsonl")
    write_report(report_of([done], sets={found.name: found for found in sets}, draws=50), done.folder)
    return done.folder / "report.html"


def measured(page, folder, width):
    """Return what a script sees of the page in a frame of so many pixels."""
    text = page.read_text(encoding="utf-8")
    assert "Content-Security-Policy" in text
    inside = re.sub(r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", text)
    outside = folder / f"frame-{width}.html"
    outside.write_text(
        f'<!doctype html><body style="margin:0"><iframe id="f" style="border:0;width:{width}px;height:4000px" '
        f'srcdoc="{escape(inside, quote=True)}"></iframe><pre id="out"></pre><script>'
        "document.getElementById('f').onload = event => {"
        "const d = event.target.contentDocument, root = d.documentElement;"
        "const wide = [...d.querySelectorAll('body *')].filter(e => !e.closest('svg') && "
        "e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.table')).map(e => e.tagName);"
        "document.getElementById('out').textContent = JSON.stringify({scroll: root.scrollWidth, client: "
        "root.clientWidth, wide, figures: d.querySelectorAll('figure svg').length, bold: d.querySelectorAll('b').length, "
        "font: parseFloat(getComputedStyle(d.body).fontSize)}); }</script>",
        encoding="utf-8",
    )
    seen = browse(folder, "--virtual-time-budget=5000", "--dump-dom", page=outside)
    found = re.search(r'<pre id="out">(.+?)</pre>', seen, re.DOTALL)
    assert found, seen[-500:]
    return json.loads(unescape(found[1]))


@pytest.mark.parametrize("width", [PHONE, 768, 1280])
def test_nothing_is_wider_than_the_screen_and_names_are_no_markup(page, tmp_path, width):
    seen = measured(page, tmp_path, width)
    assert seen["scroll"] <= seen["client"]
    assert seen["wide"] == []
    assert seen["figures"] == 8
    assert seen["bold"] == 0
    assert seen["font"] >= 15


def test_a_picture_of_the_page_is_not_blank(page, tmp_path):
    image = pytest.importorskip("matplotlib.image", reason="the extra `bench` is not installed")
    shot = tmp_path / "page.png"
    browse(tmp_path, f"--screenshot={shot}", "--window-size=1280,2000", page=page)
    pixels = image.imread(shot)[:, :, :3]
    assert pixels.shape[:2] == (2000, 1280)
    assert pixels.mean() > 0.8  # light paper
    assert pixels.min() < 0.3  # dark ink


def test_paper_gets_all_of_it(page, tmp_path):
    sheet = tmp_path / "page.pdf"
    browse(tmp_path, f"--print-to-pdf={sheet}", "--no-pdf-header-footer", page=page)
    pages = len(re.findall(rb"/Type\s*/Page\b", sheet.read_bytes()))
    assert 3 <= pages <= 14
