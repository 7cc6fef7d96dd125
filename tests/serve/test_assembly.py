import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.serve.client import post
from tests.serve.scripted import CHAT_TOML, service_of
from yesno.calibration.calibrators import CALIBRATORS
from yesno.calibration.cards import Calibration
from yesno.calibration.subjects import Subject
from yesno.errors import ConfigError

BODY = {"model": "fast", "input": "hi", "questions": [{"type": "predicate", "instructions": "Is it?"}]}


def parts_of(folder, text, **environment):
    return service_of(folder, text, environment=environment).parts


def test_what_the_file_says_of_a_model_is_what_it_is(tmp_path):
    text = """
    [models.fast]
    model = "openai-compatible:qwen"
    base_url = "http://127.0.0.1:9/v1"
    api_key_env = "SOME_KEY"
    template = "few_shot"
    strategy = "logprobs"
    strict = true
    orders = 3
    prior = "off"
    packing = "packed"
    min_label_mass = 0.25
    timeout_s = 7
    concurrency = 3
    price = { input = 1, output = 2 }
    """
    with pytest.raises(ConfigError, match=r"line 2: models\.fast – packed questions are asked once"):
        parts_of(tmp_path, text, SOME_KEY="k")
    model = parts_of(tmp_path, text.replace("orders = 3", "orders = 1"), SOME_KEY="k").models["fast"]
    assert (model.model_name, model.timeout_s, model.concurrency) == ("qwen", 7, 3)
    assert model.asking.min_label_mass == 0.25
    assert model.asking.templates.name == "few_shot"
    assert model.delivery.price.output == 2
    assert model.priors.policy == "off"
    assert not model.ladder.goes_on


def test_one_provider_answers_under_several_names_with_settings_of_their_own(tmp_path):
    shutil.copytree(Path(__file__).parents[2] / "prompts" / "default", tmp_path / "own")
    text = '[models.a]\nmodel = "fake:"\n[models.b]\nmodel = "fake:"\ntemplate = "own"\norders = 2\n'
    models = parts_of(tmp_path, text).models
    assert [models[name].asking.orders for name in "ab"] == [1, 2]
    assert [models[name].asking.templates.name for name in "ab"] == ["default", "own"]


@pytest.mark.parametrize("place", ["cards/card.json", "cards"], ids=["file", "folder"])
def test_a_calibration_is_applied_under_its_alias_alone(tmp_path, place):
    (tmp_path / "cards").mkdir()
    calibrator = CALIBRATORS["temperature"].of({"temperature": 2.0})
    card = Calibration(Subject("fake", "fake", "native", None, "yes_no"), calibrator)
    (tmp_path / "cards" / "card.json").write_text(card.to_json())
    text = f'[models.fast]\nmodel = "fake:"\ncalibration = "{place}"\n[models.raw]\nmodel = "fake:"\n'
    service = service_of(tmp_path, text)

    def asked(model):
        reply = asyncio.run(post(service.asgi, "/v1/decisions", {**BODY, "model": model}))
        return reply.json["answers"][0]

    assert (asked("raw")["probability"], asked("raw")["x_calibrated"]) == (0.8, False)
    assert asked("fast")["probability"] == pytest.approx(2 / 3)  # the logit of 0.8, halved
    assert asked("fast")["x_calibrated"] is True


def test_a_card_that_was_changed_is_read_again(tmp_path):
    path = tmp_path / "card.json"

    def write(temperature):
        calibrator = CALIBRATORS["temperature"].of({"temperature": temperature})
        card = Calibration(Subject("fake", "fake", "native", None, "yes_no"), calibrator)
        path.write_text(card.to_json())

    async def go():
        write(2.0)
        service = service_of(tmp_path, '[models.fast]\nmodel = "fake:"\ncalibration = "card.json"\n')
        found = []
        for temperature in (2.0, 4.5):
            write(temperature)
            await service.reload()
            reply = await post(service.asgi, "/v1/decisions", BODY)
            found.append(reply.json["answers"][0]["probability"])
        return found

    warmer, warmest = asyncio.run(go())
    assert 0.5 < warmest < warmer


def test_keys_of_upstreams_come_from_the_environment_and_are_not_shown(tmp_path):
    text = CHAT_TOML.replace('model = "tiny"', 'model = "tiny"\napi_key_env = "SOME_KEY"')
    parts = parts_of(tmp_path, text, SOME_KEY="sk-secret")
    assert parts.chat.targets["small"].upstream._key == "sk-secret"
    assert parts.chat.targets["large"].upstream._key is None
    assert "sk-secret" not in repr(parts)
    assert "sk-secret" not in json.dumps(
        {name: repr(value) for name, value in vars(parts.chat.turns).items()}
    )


def test_a_model_has_its_own_time_or_the_servers(tmp_path):
    text = (
        '[server]\ntimeout_s = 40\n[models.a]\nmodel = "fake:"\n[models.b]\nmodel = "fake:"\ntimeout_s = 90\n'
    )

    async def go():
        service = service_of(tmp_path, text)
        before = service.parts.models
        (tmp_path / "serve.toml").write_text(text.replace("40", "50"))
        await service.reload()
        return before, service.parts.models, service.app.settings.timeout_s

    before, after, of_all = asyncio.run(go())
    assert [before[name].timeout_s for name in "ab"] == [40, 90]
    assert [after[name].timeout_s for name in "ab"] == [50, 90]
    assert after["b"] is before["b"]
    assert of_all is None  # it would win over what the models have
