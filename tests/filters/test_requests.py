"""How many requests a tool filter costs."""

import re

from tests.engine.support import Native
from tests.shells import both
from yesno import FakeProvider, YesNoAnswer
from yesno.evidence import NativeAnswers, Reply, Usage
from yesno.filters import ToolFilter

TOOLS = [{"name": f"tool_{i}", "description": f"Does {i}."} for i in range(60)]
WANTED = [tool for i, tool in enumerate(TOOLS) if i % 7 == 3]


class Endpoint(Native):
    """A decision endpoint that finds every seventh tool useful."""

    def __init__(self):
        self.sent = 0

    def send(self, payload, *, timeout_s=None):
        self.sent += 1
        return payload

    async def asend(self, payload):
        return self.send(payload)

    def parse(self, task, reply):
        answers = {
            name: YesNoAnswer(0.9 if int(re.search(r"tool_(\d+)", question.text)[1]) % 7 == 3 else 0.1)
            for name, question in task.request.questions.items()
        }
        return Reply(NativeAnswers(answers), usage=Usage(requests=1))


def listed(prompt):
    """Answer a numbered list of tools, the lines in their order."""
    tokens = []
    for number, tool in re.findall(r"^(\d+)\. .*?tool_(\d+)", prompt, re.MULTILINE | re.DOTALL):
        yes = 0.9 if int(tool) % 7 == 3 else 0.1
        tokens += [{number: 1.0}, {".": 1.0}, {" Yes": yes, " No": 1 - yes}, {"\n": 1.0}]
    return tokens


@both
def test_sixty_tools_are_one_request_of_a_decision_endpoint(shell):
    provider = Endpoint()
    assert shell(provider).run(ToolFilter().select(TOOLS, "Do it")) == WANTED
    assert provider.sent == 1


@both
def test_sixty_tools_are_three_packed_requests(shell):
    provider = FakeProvider(listed)
    assert shell(provider, packing="packed").run(ToolFilter().select(TOOLS, "Do it")) == WANTED
    assert len(provider.requests) == 3
