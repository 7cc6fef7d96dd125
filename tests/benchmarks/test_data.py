"""The data that the benchmarks ship."""

from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_all_data_together_stay_below_four_megabytes():
    assert sum(path.stat().st_size for path in BENCHMARKS.glob("*/data/*")) < 4_000_000


def test_a_readme_beside_the_data_names_their_licences():
    for folder in BENCHMARKS.glob("*/data"):
        text = (folder.parent / "README.md").read_text(encoding="utf-8")
        assert any(name in text for name in ("Apache-2.0", "MIT", "CC-BY", "CC0")), folder.parent.name
