"""What JSON Schema cannot say about good requests, mended in those that schemathesis makes; it loads this file."""

import schemathesis
from schemathesis import GenerationMode


@schemathesis.hook
def before_call(context, case, kwargs):
    """Give choices of one value another each, and put a message in the place of outputs that answer no call."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    body = case.body if isinstance(case.body, dict) else {}
    questions, items = body.get("questions"), body.get("input")
    for question in questions if isinstance(questions, list) else ():
        _tell_apart(question.get("choices", ()))
    if isinstance(items, list):
        body["input"] = [*_with_their_calls(items)]


def _tell_apart(choices):
    seen = []
    for place, choice in enumerate(choices):
        if (type(choice["value"]), choice["value"]) in seen:
            choice["value"] = f"value {place}"
        seen.append((type(choice["value"]), choice["value"]))


def _with_their_calls(items):
    called = set()
    for item in items:
        kind = item.get("type", "message")
        if kind.endswith("_call"):
            called.add(item["call_id"])
        lost = kind.endswith("_output") and item["call_id"] not in called
        yield {"role": "user", "content": "an output was here"} if lost else item
