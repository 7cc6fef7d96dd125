import pytest

from yesno import DecisionModel
from yesno.errors import ConfigError
from yesno.settings import Settings


def test_without_variables_the_model_is_local():
    assert Settings.from_env({}) == Settings(model="local")


def test_variables_are_read_and_keys_never_shown():
    settings = Settings.from_env(
        {
            "YESNO_MODEL": "fake",
            "YESNO_BASE_URL": "http://x",
            "OPENAI_API_KEY": "sk-1",
            "YESNO_TEMPLATE": "few_shot",
        }
    )
    assert (settings.model, settings.base_url, settings.template) == ("fake", "http://x", "few_shot")
    assert settings.keys == {"OPENAI_API_KEY": "sk-1"}
    assert "sk-1" not in repr(settings)


def test_an_unknown_variable_is_refused_with_the_close_match():
    with pytest.raises(ConfigError, match="did you mean YESNO_BASE_URL"):
        Settings.from_env({"YESNO_BASEURL": "x"})


def test_arguments_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("YESNO_MODEL", "nonsense")
    monkeypatch.setenv("YESNO_TEMPLATE", "few_shot")
    assert DecisionModel("fake").provider_name == "fake"
    assert DecisionModel("fake").asking.templates.name == "few_shot"
    assert DecisionModel("fake", template="default").asking.templates.name == "default"
