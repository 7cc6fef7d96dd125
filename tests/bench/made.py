"""Sets and rows that tests are about."""

from yesno._rows import Row as Line
from yesno.bench.rows import Row
from yesno.labelled import set_of

SPAM = {"type": "yesno", "text": "Is it spam?"}


def spam_set(count=8, name="spam", question=SPAM):
    """Return a set whose items alternate between yes and no."""
    lines = [
        Line(
            n,
            {"id": f"i{n}", "input": f"message {n}", "question": question, "label": "yes" if n % 2 else "no"},
        )
        for n in range(1, count + 1)
    ]
    return set_of(lines, name)


def right(prompt):
    """Be quite sure of the right answer of `spam_set`."""
    number = int(prompt.split("message ")[1].split()[0].strip("<>/"))
    return {"Yes": 0.8, "No": 0.2} if number % 2 else {"Yes": 0.3, "No": 0.7}


def row(**changes):
    """Return the row of an answer to a yes/no question."""
    fields = {
        "set": "spam",
        "id": "1",
        "group": changes.get("id", "1"),
        "data": "a" * 64,
        "model": "fake",
        "template": "default",
        "template_hash": "0123abcd",
        "kind": "yes_no",
        "options": ("yes", "no"),
        "label": 0,
        "outcome": "answer",
        "probabilities": (0.75, 0.25),
        "label_mass": 0.9,
        "method": "logprobs",
        "latency_s": 0.5,
        "cost_usd": 0.0,
    }
    return Row(**{**fields, **changes})
