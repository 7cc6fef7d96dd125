import asyncio
from datetime import date

import pytest

from tests.serve.client import ask, post
from tests.serve.scripted import CHAT_TOML, Scripted, service_of
from yesno.serve.keys import add_key, revoke_key

MODELS = '[models.fast]\nmodel = "fake:"\n'
OTHER = '[models.other]\nmodel = "fake:other"\n'


def body(model):
    return {"model": model, "input": "hi", "questions": [{"type": "predicate", "instructions": "Is it?"}]}


async def status(service, model, key=None):
    return (await post(service.asgi, "/v1/decisions", body(model), key=key)).status


@pytest.fixture
def write(tmp_path):
    return (tmp_path / "serve.toml").write_text


def test_a_reload_serves_what_the_file_says_now(tmp_path, write):
    async def go():
        service = service_of(tmp_path, MODELS)
        kept = service.parts.models["fast"]
        write("[server]\nmax_questions = 3\n" + MODELS + OTHER)
        assert await service.reload()
        assert service.parts.models["fast"] is kept
        assert service.app.settings.max_questions == 3
        return await status(service, "fast"), await status(service, "other")

    assert asyncio.run(go()) == (200, 200)


@pytest.mark.parametrize(
    "broken", ["models = 3", "x = ", "", MODELS + "[chat]\n", "[models.a]\nmodel = 'no-such:x'\n"]
)
def test_a_broken_file_changes_nothing_and_says_so(tmp_path, write, caplog, broken):
    async def go():
        service = service_of(tmp_path, MODELS)
        before = service.parts
        write(broken)
        assert not await service.reload()
        assert service.parts is before
        return await status(service, "fast")

    assert asyncio.run(go()) == 200
    (record,) = [record for record in caplog.records if record.getMessage() == "reload_refused"]
    assert record.levelname == "ERROR"
    assert "serve.toml" in record.error


def test_a_model_that_is_gone_is_closed_once_its_last_request_has_ended(tmp_path, write):
    async def go():
        service = service_of(tmp_path, MODELS + OTHER)
        closed = []
        gone = service.parts.models["other"]

        async def close():
            closed.append("other")

        gone.close = close
        arrived = asyncio.Event()
        first = asyncio.create_task(post(service.asgi, "/v1/decisions", body("fast"), arrives=arrived.wait))
        await asyncio.sleep(0)
        write(MODELS)
        await service.reload()
        assert await status(service, "other") == 404
        write(MODELS + "# again\n")
        await service.reload()
        assert closed == []
        arrived.set()
        assert (await first).status == 200
        await service._closing
        return closed

    assert asyncio.run(go()) == ["other"]


def test_a_request_that_began_before_ends_as_it_began(tmp_path, write):
    async def go():
        wait = asyncio.Event()
        small = Scripted(b"one", wait, b"two")
        service = service_of(tmp_path, CHAT_TOML, {"small": small})
        chat = {"model": "small", "messages": [{"role": "user", "content": "hi"}]}
        asking = asyncio.create_task(post(service.asgi, "/v1/chat/completions", chat))
        await small.began.wait()
        write(MODELS)
        service._reread = lambda before: service_of(tmp_path, MODELS).parts
        assert await service.reload()
        after = await post(service.asgi, "/v1/chat/completions", chat)
        assert not small.closed
        wait.set()
        reply = await asking
        await service._closing
        return reply, after, small.closed

    reply, after, closed = asyncio.run(asyncio.wait_for(go(), 10))
    assert (reply.body, reply.whole) == (b"onetwo", True)
    assert (after.status, closed) == (404, True)


def test_keys_are_read_again_and_what_was_used_counts_on(tmp_path, write):
    async def go():
        keys = tmp_path / "keys.txt"
        alice, bob = (add_key(keys, name, date(2026, 11, 30)) for name in ("alice", "bob"))
        text = '[server]\nkeys_file = "keys.txt"\n[limits]\nbudget_requests = {}\n' + MODELS
        service = service_of(tmp_path, text.format(2))
        assert await status(service, "fast", alice) == 200
        revoke_key(keys, "bob")
        carol = add_key(keys, "carol", date(2026, 11, 30))
        assert await status(service, "fast", bob) == 200
        write(text.format(3))
        await service.reload()
        assert await status(service, "fast", bob) == 401
        assert await status(service, "fast", carol) == 200
        return [await status(service, "fast", alice) for _ in range(3)]

    assert asyncio.run(go()) == [200, 200, 429]


def test_a_template_that_was_changed_is_read_again(tmp_path, write):
    import shutil
    from pathlib import Path

    async def go():
        shutil.copytree(Path(__file__).parents[2] / "prompts" / "default", tmp_path / "own")
        service = service_of(tmp_path, MODELS + 'template = "own"\n')
        first = service.parts.models["fast"]
        await service.reload()
        assert service.parts.models["fast"] is first
        file = tmp_path / "own" / "yes_no.j2"
        file.write_text(file.read_text() + "\n")
        await service.reload()
        return first is service.parts.models["fast"]

    assert asyncio.run(go()) is False


def test_what_needs_a_restart_is_named(tmp_path, write, caplog):
    async def go():
        service = service_of(tmp_path, MODELS)
        write("[server]\nport = 9\n" + MODELS)
        await service.reload()

    asyncio.run(go())
    (record,) = [record for record in caplog.records if record.getMessage() == "restart_needed"]
    assert record.changed == ["port"]


def test_the_end_of_the_server_closes_what_it_used(tmp_path):
    async def go():
        small = Scripted()
        service = service_of(tmp_path, CHAT_TOML, {"small": small})
        await service._close()
        return small.closed

    assert asyncio.run(go())


def test_the_document_says_whether_a_key_is_needed(tmp_path, write):
    async def go():
        service = service_of(tmp_path, MODELS)
        assert not service.app.keys
        add_key(tmp_path / "keys.txt", "alice", date(2026, 11, 30))
        write('[server]\nkeys_file = "keys.txt"\n' + MODELS)
        await service.reload()
        assert service.app.keys
        return (await ask(service.asgi, "GET", "/openapi.json")).json

    paths = asyncio.run(go())["paths"]
    guarded = {
        path for path, found in paths.items() for operation in found.values() if "security" in operation
    }
    assert guarded == {"/v1/decisions", "/v1/systemone", "/v1/models", "/metrics"}
    assert "/v1/chat/completions" not in paths


def test_the_document_describes_chats_where_there_are_some(tmp_path):
    service = service_of(tmp_path, CHAT_TOML, {"small": Scripted(), "large": Scripted()})
    document = asyncio.run(ask(service.asgi, "GET", "/openapi.json")).json
    chat = document["paths"]["/v1/chat/completions"]["post"]
    schema = chat["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"]["model"]["enum"] == ["auto", "small", "large"]
    assert "x-yesno-route" in chat["responses"]["200"]["headers"]
