"""A real server in a process of its own: signals, files that change, clients that go away."""

import asyncio
import json
import signal
import subprocess
import sys
from datetime import date

import aiohttp
import openai
import pytest
from aiohttp import web

from tests.integration.serving import Serving, lines_of, upstream
from yesno.serve.keys import add_key

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

MODELS = '[models.fast]\nmodel = "fake:"\n'
CHAT = """
[chat]
decide_with = "fast"
default = "small"
[chat.routes.small]
base_url = "{url}"
model = "tiny"
"""
BODY = {"model": "fast", "input": "hi", "questions": [{"type": "predicate", "instructions": "Is it?"}]}
TALK = {"model": "small", "stream": True, "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def start(tmp_path):
    """Return what starts a server for a configuration file."""
    started = []

    async def start(text, **environment):
        (tmp_path / "serve.toml").write_text(text)
        started.append(Serving(tmp_path, "--config", "serve.toml", **environment))
        return await started[-1].started()

    yield start
    for serving in started:
        serving.stop()


async def decide(session, serving, **more):
    async with session.post(f"{serving.url}/v1/decisions", json=BODY, **more) as response:
        await response.read()
        return response.status


class Load:
    """Clients that ask again and again, some on a connection that they keep, some on a new one each time."""

    def __init__(self, serving):
        self.serving = serving
        self.answered, self.refused, self.lost = 0, 0, []

    async def client(self, *, keep):
        connector = aiohttp.TCPConnector(force_close=not keep)
        async with aiohttp.ClientSession(connector=connector) as session:
            while True:
                try:
                    status = await decide(session, self.serving)
                except aiohttp.ClientConnectorError:
                    self.refused += 1  # nobody listens any more: it was not accepted
                    return
                except aiohttp.ClientError as error:
                    self.lost.append(repr(error))
                    return
                if status != 200:
                    self.lost.append(status)
                self.answered += 1


def test_sigterm_under_load_loses_no_accepted_request(start):
    async def go():
        serving = await start("[server]\ndrain_delay_s = 0.5\naccess_log = false\n" + MODELS)
        load = Load(serving)
        clients = [asyncio.create_task(load.client(keep=number % 2 == 0)) for number in range(16)]
        await asyncio.sleep(1)
        before = load.answered
        serving.send(signal.SIGTERM)
        await asyncio.gather(*clients)
        return load, before, await serving.ended()

    load, before, code = asyncio.run(go())
    assert before > 0
    assert load.lost == []
    assert load.answered > before  # it still answered while it was leaving
    assert load.refused == 16
    assert code == 0


def test_what_is_under_way_is_finished_while_readyz_says_no(start):
    async def go():
        first, more = asyncio.Event(), asyncio.Event()

        async def handler(request):
            response = web.StreamResponse(headers={"content-type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b"data: 1\n\n")
            await more.wait()
            await response.write(b"data: 2\n\n")
            return response

        async def talk(session, url):
            got = b""
            async with session.post(f"{url}/v1/chat/completions", json=TALK) as response:
                async for piece in response.content.iter_any():
                    got += piece
                    first.set()
            return got

        async with upstream(handler) as url, aiohttp.ClientSession() as session:
            serving = await start("[server]\ndrain_delay_s = 1\n" + MODELS + CHAT.format(url=url))
            talking = asyncio.create_task(talk(session, serving.url))
            await first.wait()
            serving.send(signal.SIGTERM)
            await serving.logged("draining_began")
            async with session.get(f"{serving.url}/readyz") as response:
                ready = response.status
            while True:  # until the listener is closed
                try:
                    async with aiohttp.ClientSession() as fresh, fresh.get(f"{serving.url}/healthz"):
                        await asyncio.sleep(0.02)
                except aiohttp.ClientConnectorError:
                    break
            assert serving.process.poll() is None
            more.set()
            return ready, await talking, await serving.ended()

    assert asyncio.run(asyncio.wait_for(go(), 60)) == (503, b"data: 1\n\ndata: 2\n\n", 0)


def test_what_does_not_end_is_cut_off(start):
    async def go():
        began = asyncio.Event()

        async def handler(request):
            began.set()
            await asyncio.Event().wait()

        async with upstream(handler) as url, aiohttp.ClientSession() as session:
            server = "[server]\ndrain_delay_s = 0\ndrain_timeout_s = 0.3\n"
            serving = await start(server + MODELS + CHAT.format(url=url))
            asking = asyncio.create_task(session.post(f"{serving.url}/v1/chat/completions", json=TALK))
            await began.wait()
            serving.send(signal.SIGTERM)
            code = await serving.ended()
            (error,) = await asyncio.gather(asking, return_exceptions=True)
            return code, error

    code, error = asyncio.run(asyncio.wait_for(go(), 60))
    assert code == 0
    assert isinstance(error, aiohttp.ClientError) or error.status == 500


def test_sighup_reads_file_and_keys_again_and_a_broken_one_changes_nothing(start, tmp_path):
    async def go():
        alice = add_key(tmp_path / "keys.txt", "alice", date(2026, 11, 30))
        text = '[server]\nkeys_file = "keys.txt"\n' + MODELS
        serving = await start(text)
        async with aiohttp.ClientSession() as session:
            found = [await decide(session, serving, headers={"x-api-key": alice})]
            bob = add_key(tmp_path / "keys.txt", "bob", date(2026, 11, 30))
            found.append(await decide(session, serving, headers={"x-api-key": bob}))
            serving.send(signal.SIGHUP)
            await serving.logged("configuration_reloaded")
            found.append(await decide(session, serving, headers={"x-api-key": bob}))
            (tmp_path / "serve.toml").write_text(text + "[server]\n")
            serving.send(signal.SIGHUP)
            refused = await serving.logged("reload_refused")
            found.append(await decide(session, serving, headers={"x-api-key": bob}))
        return found, refused["error"]

    found, error = asyncio.run(go())
    assert found == [200, 401, 200, 200]
    assert error.startswith("serve.toml is not TOML: Cannot declare ('server',) twice (at line 5")


def test_a_client_that_goes_away_ends_the_request_at_the_upstream(start):
    async def go():
        began, ended = asyncio.Event(), asyncio.Event()

        async def handler(request):
            response = web.StreamResponse()
            await response.prepare(request)
            await response.write(b"data: 1\n\n")
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with upstream(handler) as url:
            serving = await start(MODELS + CHAT.format(url=url))
            async with aiohttp.ClientSession() as session:
                response = await session.post(f"{serving.url}/v1/chat/completions", json=TALK)
                assert await response.content.readany() == b"data: 1\n\n"
                await began.wait()
                response.close()
                await ended.wait()
            return await serving.logged("request_served")

    assert asyncio.run(asyncio.wait_for(go(), 60))["client_left"] is True


def test_the_official_sdk_reads_answers_streams_and_errors(start):
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny"}

    async def handler(request):
        body = await request.json()
        if body["messages"][0]["content"] == "fail":
            error = {
                "message": "too long",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "too_long",
            }
            return web.json_response({"error": error}, status=400, headers={"x-request-id": "up-1"})
        if not body.get("stream"):
            message = {"role": "assistant", "content": body["model"]}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            return web.json_response({**chunk, "object": "chat.completion", "choices": [choice]})
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for word in ("one ", "two"):
            event = {**chunk, "choices": [{"index": 0, "delta": {"content": word}}]}
            await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    async def go():
        async with upstream(handler) as url:
            serving = await start(MODELS + CHAT.format(url=url))
            async with openai.AsyncOpenAI(
                base_url=f"{serving.url}/v1", api_key="any", max_retries=0
            ) as client:
                create = client.chat.completions.with_raw_response.create
                raw = await create(model="auto", messages=[{"role": "user", "content": "hi"}])
                stream = await client.chat.completions.create(
                    model="small", messages=[{"role": "user", "content": "hi"}], stream=True
                )
                words = [event.choices[0].delta.content async for event in stream]
                with pytest.raises(openai.BadRequestError) as info:
                    await create(model="small", messages=[{"role": "user", "content": "fail"}])
                return raw, words, info.value

    raw, words, error = asyncio.run(asyncio.wait_for(go(), 60))
    assert raw.parse().choices[0].message.content == "tiny"
    assert (raw.headers["x-yesno-route"], raw.headers["x-yesno-route-why"]) == ("small", "only_route")
    assert words == ["one ", "two"]
    assert (error.code, error.param) == ("too_long", "messages")
    assert error.request_id.startswith("req_")
    assert error.response.headers["x-upstream-request-id"] == "up-1"


def test_an_answer_that_breaks_off_is_seen_to_be_broken(start):
    async def go():
        async def handler(request):
            response = web.StreamResponse()
            await response.prepare(request)
            await response.write(b"data: 1\n\n")
            request.transport.abort()
            return response

        async with upstream(handler) as url, aiohttp.ClientSession() as session:
            serving = await start(MODELS + CHAT.format(url=url))
            async with session.post(f"{serving.url}/v1/chat/completions", json=TALK) as response:
                with pytest.raises(aiohttp.ClientError):
                    await response.read()
            assert (await serving.logged("request_served"))["problem"] == "upstream_broke_off"

    asyncio.run(asyncio.wait_for(go(), 60))


def test_the_log_is_json_line_by_line_and_holds_no_key(start):
    async def go():
        async def handler(request):
            return web.json_response({"authorization": request.headers["authorization"]})

        async with upstream(handler) as url, aiohttp.ClientSession() as session:
            chat = CHAT.format(url=url) + 'api_key_env = "SOME_KEY"\n'
            serving = await start(MODELS + chat, SOME_KEY="sk-upstream")
            async with session.post(
                f"{serving.url}/v1/chat/completions", json={**TALK, "stream": False}
            ) as response:
                assert await response.json() == {"authorization": "Bearer sk-upstream"}
            await serving.logged("request_served")
            serving.send(signal.SIGTERM)
            await serving.ended()
            return serving.log

    log = asyncio.run(asyncio.wait_for(go(), 60))
    assert "sk-upstream" not in log.read_text()
    assert all(line.startswith("{") for line in log.read_text().splitlines()[1:])
    assert [line["path"] for line in lines_of(log, "request_served")] == ["/v1/chat/completions"]


def program(folder, *words):
    command = [sys.executable, "-m", "yesno", "serve", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=60)  # noqa: S603


def test_without_keys_it_does_not_listen_where_others_reach_it(tmp_path):
    done = program(tmp_path, "--model", "fake", "--host", "0.0.0.0", "--port", "0")  # noqa: S104
    assert done.returncode == 2
    assert "'0.0.0.0' can be reached from other machines, and there are no keys" in done.stderr
    (tmp_path / "serve.toml").write_text('[server]\nhost = "0.0.0.0"\n' + MODELS)
    done = program(tmp_path, "--config", "serve.toml")
    assert done.returncode == 2
    assert "serve.toml, line 2: server.host – '0.0.0.0' can be reached" in done.stderr


def test_with_keys_it_does(tmp_path):
    async def go():
        add_key(tmp_path / "keys.txt", "alice", date(2026, 11, 30))
        serving = Serving(tmp_path, "--model", "fake", "--host", "0.0.0.0", "--keys", "keys.txt")  # noqa: S104
        try:
            await serving.started()
            async with aiohttp.ClientSession() as session:
                return await decide(session, serving)
        finally:
            serving.stop()

    assert asyncio.run(go()) == 401
