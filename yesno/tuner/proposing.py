"""Other wordings, asked of any chat model, from the rows that went worst."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from yesno._log import get_logger
from yesno.engine.sync import DecisionModel
from yesno.evidence import Completion
from yesno.labelled import Item, answer_of, options_of
from yesno.providers.base import PromptTask, Turn
from yesno.templates.encoding import encode_text, render_input
from yesno.templates.sets import PROMPTS
from yesno.tuner.candidates import Candidate, proposed
from yesno.tuner.objective import losses
from yesno.tuner.search import Track

__all__ = ["PROPOSALS", "proposals_of", "wordings_in"]

PROPOSALS = 4
"""Wordings to ask for."""
WORST = 10
SHOWN = 600
"""Characters of an input that are shown."""
CAP = 2048
"""Output tokens for a list of wordings."""
_BLOCKS = {
    "{input}": "\n<input>\n{{ input }}\n</input>\n",
    "{question}": "{{ question }}",
    "{options}": "\n{% for row in rows %}\n{{ row.label }}. {{ row.name }}"
    "{% if row.description %}: {{ row.description }}{% endif +%}\n{% endfor %}\n",
}
_SHOWN = {
    "yes_no": "<input>\n{input}\n</input>\n\n{question} Answer Yes or No.",
    "choice": "<input>\n{input}\n</input>\n\n{question}\n{options}\nAnswer with the letter.",
    "scale": "<input>\n{input}\n</input>\n\n{question}\n{options}\nAnswer with the letter.",
}
_ANSWERS = {"yes_no": "Yes or No", "choice": "the letter of an option", "scale": "the letter of a level"}


def proposals_of(
    model: DecisionModel, best: Track, items: Sequence[Item], count: int = PROPOSALS
) -> list[Candidate]:
    """Ask a model for other wordings; those that cannot be used are left out.

    It is shown the inputs, labels and answers of the rows that the best template so far did worst on.

    Args:
        model: Whom to ask.
        best: The template with its answers.
        items: The rows.
        count: How many wordings to ask for.
    """
    kind = best.candidate.kind
    text = _prompt(kind, _worst(best, items), count)
    reply = model.reply(PromptTask((Turn("user", text),), model.model_name, CAP)).evidence
    written = (reply.text if isinstance(reply, Completion) else None) or ""
    found = wordings_in(written, kind)[:count]
    if len(found) < count:
        get_logger("tuner").warning("proposals_left_out", asked=count, usable=len(found))
    return [
        replace(one, name=f"proposed-{number}", about=f"a wording by {model.model_name}")
        for number, one in enumerate(found, start=1)
    ]


def wordings_in(text: str, kind: str) -> list[Candidate]:
    """Return the wordings in a reply that hold what a wording must, and nothing that a template would run."""
    start, end = text.find("["), text.rfind("]")
    try:
        listed = json.loads(text[start : end + 1]) if 0 <= start < end else []
    except ValueError:
        return []
    texts = [one for one in listed if isinstance(one, str)]
    made = (_wording(one, kind) for one in dict.fromkeys(texts))
    return [proposed(kind, "proposed", one, "a proposed wording") for one in made if one is not None]


def _wording(text: str, kind: str) -> str | None:
    needed = ["{input}", "{question}", *(["{options}"] if kind != "yes_no" else [])]
    if any(text.count(place) != 1 for place in needed):
        return None
    rest = text
    for place in needed:
        rest = rest.replace(place, "")
    if re.search(r"[{}]", rest):
        return None
    # tags of its own around the input would stand beside ours
    text = re.sub(r"\s*</?input>\s*", "\n", text)
    made = encode_text(text)
    for place in needed:
        made = made.replace(place, _BLOCKS[place])
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]*\n[ \t]*", "\n", made)).strip()


def _worst(best: Track, items: Sequence[Item]) -> list[tuple[Item, float]]:
    answered = [(item, shares) for item in items if (shares := best.answers.get(item.id))]
    if not answered:
        return []
    lost = losses([shares for _, shares in answered], [item for item, _ in answered])
    ranked = sorted(zip(lost.tolist(), range(len(answered)), strict=True), reverse=True)[:WORST]
    return [(answered[place][0], answered[place][1][answered[place][0].label]) for _, place in ranked]


def _prompt(kind: str, worst: Sequence[tuple[Item, float]], count: int) -> str:
    rows = "\n\n".join(
        f"<row>\nquestion: {encode_text(item.question.text)}\n"
        f"possible answers: {', '.join(map(encode_text, options_of(item.question)))}\n"
        f"input: {render_input(item.input)[:SHOWN]}\n"
        f"right answer: {encode_text(answer_of(item))}, given a probability of {share:.2f}\n</row>"
        for item, share in worst
    )
    text = _request()
    place = "" if kind == "yes_no" else " and {options}"
    for name, value in (
        ("PLACE", place),
        ("COUNT", str(count)),
        ("ANSWER", _ANSWERS[kind]),
        ("WORDING", _SHOWN[kind]),
        ("ROWS", rows),
    ):
        text = text.replace(name, value)
    return text


@cache
def _request() -> str:
    return (PROMPTS / "tuning" / "propose.txt").read_text(encoding="utf-8")
