import os
import pickle
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from yesno import DecisionModel
from yesno.errors import ConfigError
from yesno.settings import VARIABLES, Settings


def test_without_variables_the_model_is_local_and_nothing_else_is_set():
    settings = Settings.from_env({})
    assert settings == Settings(model="local")
    assert (settings.base_url, settings.template, settings.models_dir, settings.keys) == (
        None,
        None,
        None,
        {},
    )


def test_variables_are_read():
    settings = Settings.from_env(
        {
            "YESNO_MODEL": "fake",
            "YESNO_BASE_URL": "http://x",
            "YESNO_TEMPLATE": "few_shot",
            "YESNO_MODELS_DIR": "somewhere/models",
            "PATH": "/bin",
        }
    )
    assert (settings.model, settings.base_url, settings.template) == ("fake", "http://x", "few_shot")
    assert settings.models_dir == Path("somewhere/models")


def test_every_variable_is_described_and_fills_one_field():
    for name, text in VARIABLES.items():
        assert name.startswith("YESNO_")
        assert len(text.split()) > 3
        before, after = Settings.from_env({}), Settings.from_env({name: "value"})
        assert len([f for f in fields(Settings) if getattr(before, f.name) != getattr(after, f.name)]) == 1


def test_a_variable_that_is_empty_is_not_set():
    assert Settings.from_env({**dict.fromkeys(VARIABLES, ""), "OPENAI_API_KEY": ""}) == Settings()


def test_keys_are_kept_by_name_and_never_shown():
    settings = Settings.from_env({"OPENAI_API_KEY": "sk-1", "OTHER_API_KEY": "sk-2", "API_KEY_X": "sk-3"})
    assert settings.keys == {"OPENAI_API_KEY": "sk-1", "OTHER_API_KEY": "sk-2"}
    assert "sk-" not in repr(settings)
    assert "sk-" not in str(settings)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("YESNO_BASEURL", "did you mean YESNO_BASE_URL"),
        ("YESNO_QQQQQQQQQQ", "known are YESNO_BASE_URL, YESNO_CACHE_DIR, YESNO_MODEL"),
    ],
)
def test_an_unknown_variable_is_refused_with_what_was_meant(name, hint):
    with pytest.raises(ConfigError, match=f"{name} is unknown; {hint}") as info:
        Settings.from_env({name: "secret value"})
    assert "secret value" not in str(info.value)


def test_an_unknown_variable_is_noticed_at_the_front_door(monkeypatch):
    monkeypatch.setenv("YESNO_MODLE", "fake")
    with pytest.raises(ConfigError, match="YESNO_MODEL"):
        DecisionModel("fake")


def test_arguments_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("YESNO_MODEL", "nonsense")
    monkeypatch.setenv("YESNO_TEMPLATE", "few_shot")
    assert DecisionModel("fake").provider_name == "fake"
    assert DecisionModel("fake").asking.templates.name == "few_shot"
    assert DecisionModel("fake", template="default").asking.templates.name == "default"


def test_the_environment_names_the_model_when_nobody_else_does(monkeypatch):
    monkeypatch.setenv("YESNO_MODEL", "fake:from-environment")
    assert DecisionModel().model_name == "from-environment"


def test_settings_cannot_be_changed_and_survive_pickling():
    settings = Settings.from_env({"OPENAI_API_KEY": "sk-1"})
    with pytest.raises(FrozenInstanceError):
        settings.model = "other"
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - our own bytes


def test_the_tests_themselves_see_no_key_no_address_and_no_proxy():
    seen = [name for name in os.environ if name.upper().endswith(("_API_KEY", "_BASE_URL", "_PROXY"))]
    assert seen == []
    assert not [name for name in os.environ if name.startswith(("YESNO_", "OPENAI_"))]
