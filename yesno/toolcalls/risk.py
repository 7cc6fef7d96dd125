"""Let a model judge whether a call is risky."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

from yesno._checks import checked_count, checked_share
from yesno._frozen import FrozenDict, FrozenList
from yesno._log import get_logger
from yesno.errors import ConfigError, GateUnavailable, QuestionError, YesnoError
from yesno.flow import Ask, Flow
from yesno.messages import InputLike, Message, Window, as_input
from yesno.messages.shorten import shortened
from yesno.questions import Refusal, Undecided, YesNo, YesNoAnswer
from yesno.response import no_answer_error
from yesno.templates.encoding import Encoded, encode_text
from yesno.templates.sets import layer_template
from yesno.toolcalls.gates import Action, JudgedCall, Verdict

__all__ = ["Evidence", "OnError", "RiskGate"]

OnError: TypeAlias = Literal["confirm", "block", "raise"]
Evidence: TypeAlias = Literal["user_text", "conversation"]

_TOO_RISKY = "It was judged too risky."
_UNJUDGED = "It could not be judged."


class RiskGate:
    """Asks one yes/no question per call, all in one batch, and reads P(yes) as the probability that it is risky.

    Below `run_below` a call runs, from `block_from` on the model hears that it may not, between them a person is
    asked. Whatever is no answer (a failure, a refusal, an undecided question, a timeout, too little probability on
    yes and no, a call too long to be shown whole) goes the way of `on_error`, which is never to run.

    The model that judges sees what the user wrote, the call and the tool's description, as quoted data. Results of
    tools and the assistant's own words are left out, so a fetched page cannot authorise anything. What it cannot see
    is what the call does beyond its words: it is a second look, no sandbox.

    Measured by `benchmarks/toolrisk` on 30 held-out calls (24 risky) with the embedded 1.5B model, 2026-11-30: AUROC
    0.69 (95 % interval 0.44 to 0.91), log loss 0.59 (0.54 to 0.64) where always saying the share of risky calls has
    0.50. Below 0.2 ran none of the 24 risky calls (0 to 14 %) and none of the 6 harmless ones, which all asked (54 to
    100 %): its probabilities lay between 0.54 and 0.69. So 0.2 is a cautious start and no guarantee, for this model or
    another; measure your own model on calls of your own before you rely on a threshold.

    Args:
        question: Your own question, a text or a `YesNo` whose yes means risky; the call is quoted behind it. By
            default the words of `prompts/layers/risk.j2`.
        run_below: Probability (0..1) of risky below which a call marked `"auto"` runs.
        block_from: Probability from which on a call is refused without asking a person; None for never.
        on_error: What becomes of calls that cannot be judged: `"confirm"` (a person is asked), `"block"`, or
            `"raise"` a `GateUnavailable`.
        min_answer_mass: Least share (0..1) of the judge's probability on yes and no, where that is known.
        evidence: `"user_text"`, or `"conversation"`: the last messages of all roles, with what tools gave and the
            assistant said. Then anybody who can write into a tool's result can plead for a call.
        max_messages: Most messages that the judge sees, the last ones; it is told how many are left out.
        max_message_length: Most characters of each message and of the tool's description; longer ones lose their
            middle. A call is never shortened.
        max_call_length: Most characters of a call; a longer one is not judged.
        check_all: Ask about calls that would run without it too; these it may only stop.

    Raises:
        ConfigError: A setting is impossible.
        QuestionError: The question is blank.
    """

    def __init__(
        self,
        question: str | YesNo | None = None,
        *,
        run_below: float = 0.2,
        block_from: float | None = None,
        on_error: OnError = "confirm",
        min_answer_mass: float = 0.5,
        evidence: Evidence = "user_text",
        max_messages: int = 20,
        max_message_length: int = 2000,
        max_call_length: int = 20_000,
        check_all: bool = False,
    ) -> None:
        if question is not None and not isinstance(question, str | YesNo):
            raise QuestionError(f"`question` must be a text or a YesNo, not a {type(question).__name__}")
        self.question = YesNo(question) if isinstance(question, str) else question
        self.run_below = checked_share("run_below", run_below)
        self.block_from = None if block_from is None else checked_share("block_from", block_from)
        if self.block_from is not None and self.block_from < self.run_below:
            raise ConfigError(
                f"calls run below {run_below:g}, so they cannot be blocked from {block_from:g} on; raise `block_from`"
            )
        self.on_error: OnError = _one_of("on_error", on_error, OnError)
        self.min_answer_mass = checked_share("min_answer_mass", min_answer_mass)
        self.evidence: Evidence = _one_of("evidence", evidence, Evidence)
        self.max_messages = checked_count("max_messages", max_messages)
        self.max_message_length = checked_count("max_message_length", max_message_length)
        self.max_call_length = checked_count("max_call_length", max_call_length)
        if not isinstance(check_all, bool):
            raise ConfigError(f"`check_all` must be True or False, not {check_all!r}")
        self.check_all = check_all

    def judge(self, calls: Sequence[JudgedCall], messages: Sequence[Message]) -> Flow[list[Verdict]]:
        """Return the flow that judges the calls of one reply; see `Gate.judge`."""
        given = self._seen(messages)
        quoted = [self._quoted(judged) for judged in calls]
        asks = [
            Ask(self._asked(text), given, f"call_{number}")
            for number, text in enumerate(quoted, start=1)
            if len(text) <= self.max_call_length
        ]
        outcomes: Sequence[Any] = ()
        failure: YesnoError | None = None
        if asks:
            try:
                outcomes = yield asks
            except YesnoError as error:
                failure = error
        complete = failure is None and len(outcomes) == len(asks)
        replies = iter(outcomes)
        verdicts = []
        for judged, text in zip(calls, quoted, strict=True):
            if len(text) > self.max_call_length:
                verdicts.append(self._unjudged(judged, "too_long"))
            elif not complete:
                why = "wrong_shape" if failure is None else type(failure).__name__
                verdicts.append(self._unjudged(judged, why, failure))
            else:
                verdicts.append(self._judged(judged, next(replies)))
        return verdicts

    def _seen(self, messages: Sequence[Message]) -> InputLike:
        if self.evidence == "conversation":
            window = Window(self.max_messages, self.max_message_length)
            return as_input(window.cut(messages))
        said = [message.text for message in messages if message.role == "user"]
        last = said[-self.max_messages :]
        texts = FrozenList(shortened(text, self.max_message_length) for text in last)
        fields: dict[str, object] = {"user_messages": texts}
        if len(said) > len(last):
            fields["earlier_user_messages_left_out"] = len(said) - len(last)
        return FrozenDict(fields)

    def _quoted(self, judged: JudgedCall) -> str:
        arguments = judged.call.arguments
        told = {
            "tool": judged.call.name,
            "description": shortened(judged.tool.description, self.max_message_length),
            "arguments": judged.call.arguments_text if arguments is None else arguments,
        }
        return json.dumps(told, ensure_ascii=False)

    def _asked(self, call: str) -> YesNo:
        template, data = layer_template("risk"), {"document": encode_text(call)}
        own = self.question
        if own is not None:
            text = Encoded(f"{encode_text(own.text)}\n{template.render('call', data)}")
            return YesNo(text, yes_when=own.yes_when, no_when=own.no_when, examples=own.examples)
        words = {
            block: Encoded(template.render(block, data)) for block in ("question", "yes_when", "no_when")
        }
        return YesNo(words["question"], yes_when=words["yes_when"], no_when=words["no_when"])

    def _judged(self, judged: JudgedCall, outcome: Any) -> Verdict:  # noqa: ANN401 - the check is the point
        if isinstance(outcome, Refusal | Undecided):
            return self._unjudged(judged, outcome.reason, no_answer_error(outcome, judged.call.id))
        if not isinstance(outcome, YesNoAnswer):
            return self._unjudged(judged, "wrong_shape")
        risk, mass = outcome.probability, outcome.label_mass
        if not _is_share(risk) or (mass is not None and not _is_share(mass)):
            return self._unjudged(judged, "no_probability")
        if mass is not None and mass < self.min_answer_mass:
            return self._unjudged(judged, "low_answer_mass")
        action, reason = self._band(risk)
        return Verdict(action, risk, outcome.method, reason)

    def _band(self, risk: float) -> tuple[Action, str | None]:
        if self.block_from is not None and risk >= self.block_from:
            return "block", _TOO_RISKY
        if risk < self.run_below:
            return "run", None
        return "confirm", f"risky with probability {risk:.3f}; only below {self.run_below:g} it runs unasked"

    def _unjudged(self, judged: JudgedCall, why: str, cause: YesnoError | None = None) -> Verdict:
        get_logger("toolcalls").warning(
            "call_not_judged",
            tool=judged.call.name,
            call_id=judged.call.id,
            reason=why,
            on_error=self.on_error,
        )
        if self.on_error == "raise":
            raise GateUnavailable(
                f"call {judged.call.id!r} of {judged.call.name!r} could not be judged ({why}); nothing ran. "
                "See the cause, or set on_error='confirm' to ask a person"
            ) from cause
        if self.on_error == "block":
            return Verdict("block", reason=_UNJUDGED)
        return Verdict("confirm", reason=f"it could not be judged ({why})")


def _one_of(name: str, value: Any, kind: Any) -> Any:  # noqa: ANN401 - the check is the point
    known = get_args(kind)
    if value not in known:
        more = "; there is no way to run what was not judged" if name == "on_error" else ""
        raise ConfigError(f"`{name}` must be one of {', '.join(known)}, not {value!r}{more}")
    return value


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1
