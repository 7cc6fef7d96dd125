import pytest

from yesno import DecisionModel, FakeProvider
from yesno.errors import ConfigError
from yesno.providers import PROVIDERS, load_provider
from yesno.providers.profiles import PROFILES, Profile, profile_for


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("opnai:gpt-5", "did you mean 'openai'"),
        ("gpt-5", "did you mean 'openai:gpt-5'"),
        ("o4-mini", "did you mean 'openai:o4-mini'"),
        ("locl", "did you mean 'local'"),
        ("openai_compatible:m", "did you mean 'openai-compatible'"),
        ("zzz:m", "known are anthropic, azure, deepseek"),
        ("", "known are"),
        (":m", "known are"),
    ],
)
def test_an_unknown_provider_suggests_what_was_meant(spec, hint):
    with pytest.raises(ConfigError, match=hint):
        load_provider(spec)


def test_a_model_without_its_provider_is_explained_at_the_front_door():
    with pytest.raises(ConfigError, match="openai:gpt-5"):
        DecisionModel("gpt-5")


def test_what_follows_the_first_colon_is_the_models_name():
    assert load_provider("fake:a:b/c").model == "a:b/c"
    assert load_provider("fake").model == "fake"


def test_an_option_that_a_provider_does_not_take_is_named_and_none_means_not_given():
    with pytest.raises(ConfigError, match="base_url"):
        load_provider("fake", base_url="http://x")
    assert isinstance(load_provider("fake", base_url=None), FakeProvider)


@pytest.mark.parametrize(
    ("model", "effort", "cap"),
    [
        ("gpt-5.4-mini", "none", "max_completion_tokens"),
        ("gpt-5", None, "max_completion_tokens"),
        ("gpt-4.1", None, "max_tokens"),
        ("something-new", None, "max_completion_tokens"),
    ],
)
def test_the_longest_prefix_of_a_models_name_decides_its_profile(model, effort, cap):
    profile = profile_for("openai", model)
    assert (profile.effort, profile.cap_name) == (effort, cap)


def test_a_host_without_rows_gets_the_plain_profile():
    assert profile_for("openai-compatible", "gpt-5.4-mini") == Profile()


def test_every_row_says_where_it_is_from_and_when():
    assert set(PROFILES) <= set(PROVIDERS)
    for rows in PROFILES.values():
        prefixes = [prefix for prefix, _ in rows]
        assert len(set(prefixes)) == len(prefixes)
        for prefix, row in rows:
            assert row.source, prefix
            assert row.date, prefix
