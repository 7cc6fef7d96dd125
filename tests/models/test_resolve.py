from __future__ import annotations

from pathlib import Path

import pytest

from yesno.errors import ConfigError
from yesno.models.resolve import models_folder, resolve


@pytest.mark.parametrize("spec", ["local", "", "local:", "qwen2.5-coder-1.5b", "local:qwen2.5-coder-1.5b"])
def test_a_bare_local_is_the_default_model(spec: str, tmp_path: Path) -> None:
    file = resolve(spec, folder=tmp_path)
    assert file.name == "qwen2.5-coder-1.5b"
    assert file.path == tmp_path / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    assert (file.template, file.context, file.here) == ("default", 32768, False)


def test_small_models_bring_their_template_set(tmp_path: Path) -> None:
    assert resolve("local:smollm2", folder=tmp_path).template == "few_shot"
    assert resolve("gemma3-270m", folder=tmp_path).template == "few_shot"


def test_a_file_of_the_hub_is_named_by_owner_repository_and_file(tmp_path: Path) -> None:
    file = resolve("local:hf:Qwen/Qwen3-GGUF/sub/q4.gguf", folder=tmp_path)
    assert file.name == "hf:Qwen/Qwen3-GGUF/sub/q4.gguf"
    assert file.path == tmp_path / "Qwen--Qwen3-GGUF--sub--q4.gguf"
    assert file.entry is not None
    assert file.entry.sha256 is None
    assert [getattr(source, "url", "") for source in file.entry.sources] == [
        "https://huggingface.co/Qwen/Qwen3-GGUF/resolve/main/sub/q4.gguf"
    ]


@pytest.mark.parametrize(
    "spec",
    [
        "hf:",
        "hf:a/b",
        "hf:a/b/c.bin",
        "hf:../b/c.gguf",
        "hf:a/../c.gguf",
        "hf:a/b/../c.gguf",
        "hf:a/b/c?.gguf",
    ],
)
def test_a_malformed_hub_name_is_refused_with_the_form(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"hf:OWNER/REPO/FILE\.gguf, such as"):
        resolve(spec)


def test_a_model_in_several_files_is_refused() -> None:
    with pytest.raises(ConfigError, match="one of several parts"):
        resolve("hf:a/b/big-00001-of-00003.gguf")


@pytest.mark.parametrize(
    "path", ["/data/my-model.gguf", "./x/my-model.gguf", "my-model.gguf", "/data/my-model"]
)
def test_a_path_is_taken_as_it_is(path: str) -> None:
    file = resolve(f"local:{path}")
    assert file.path == Path(path)
    assert (file.name, file.template, file.context, file.entry) == ("my-model", "default", None, None)


def test_a_path_may_begin_at_home() -> None:
    assert resolve("local:~/m.gguf").path == Path.home() / "m.gguf"


@pytest.mark.parametrize(
    ("spec", "close"),
    [("local:smolm2", "smollm2"), ("qwen", "qwen2.5-coder-1.5b"), ("Gemma3", "gemma3-270m")],
)
def test_an_unknown_name_gets_the_close_one(spec: str, close: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean local:{close}") as caught:
        resolve(spec)
    assert "local:hf:OWNER/REPO/FILE.gguf" in str(caught.value)


def test_an_unknown_name_without_a_close_one_gets_all() -> None:
    with pytest.raises(
        ConfigError, match=r"'zzz' is unknown; known are qwen2\.5-coder-1\.5b, smollm2, gemma3"
    ):
        resolve("local:zzz")


def test_models_lie_in_the_users_cache_folder_unless_told_otherwise() -> None:
    assert models_folder().parts[-2:] == ("yesno", "models")
    assert models_folder("~/m") == Path.home() / "m"
