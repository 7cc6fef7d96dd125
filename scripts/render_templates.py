"""Render every shipped template with and without its optional parts; needs nothing but the package."""

from __future__ import annotations

import sys

from yesno import Choice, Message, Scale, YesNo
from yesno.engine.labelling import shown_labels
from yesno.filters import Check
from yesno.messages import Input
from yesno.templates.layers import layer_question
from yesno.templates.packed import render_packed
from yesno.templates.render import render_turns
from yesno.templates.sets import PROMPTS, TemplateSet, check_names, check_template, shipped_sets

QUESTIONS = [
    YesNo("Is it?"),
    YesNo("Is it?", yes_when="it is", no_when="it is not", examples=[("this", True)]),
    Choice("Which?", ["one", "two"]),
    Choice("Which?", {"one": "the first", "two": None}, none="neither", examples=[("this", "one")]),
    Scale("How much?", ["little", "much"]),
    Scale("How much?", [f"level {i}" for i in range(15)], examples=[("this", "level 3")]),
]
INPUTS: list[Input] = [
    "a text",
    {"a": [1, None, {"b": True}]},
    (Message("user", "hello"), Message("assistant", "hi")),
]


def main() -> None:
    """Print how many prompts were rendered."""
    if "site-packages" not in str(PROMPTS) and "--checkout" not in sys.argv:
        sys.exit(f"the templates come from {PROMPTS}, not from an installed wheel")
    count = 0
    sets = shipped_sets()
    for name in sets:
        templates = TemplateSet.load(name)
        for question in QUESTIONS:
            template = templates.template(question.kind)
            for given in INPUTS:
                for strict in (False, True):
                    turns = render_turns(template, question, given, shown_labels, strict=strict, prefill=True)
                    assert turns[-1][1], f"{name}: empty prompt"
                    count += 1
        for as_json in (False, True):
            asked = [question for question in QUESTIONS if isinstance(question, YesNo)]
            packed = render_packed(templates.template("packed"), asked, "x", ("Yes", "No"), as_json=as_json)
            assert packed[-1][1], f"{name}: empty packed prompt"
            count += 1
    variables = {"name": "n", "description": "d", "document": "x"}
    for path in sorted((PROMPTS / "layers").glob("*.j2")):
        assert layer_question(path.stem, **variables)
        count += 1
    for name in check_names():
        variables = dict.fromkeys(check_template(name).front.get("parameters", ()), "x")
        check = Check(name, None, **variables)
        assert check.card
        assert any(check.question(side) for side in check_template(name).front["applies_to"])
        count += 1
    print(f"{count} prompts of {len(sets)} sets, the layers and the guardrails")


if __name__ == "__main__":
    main()
