"""Outcomes as JSON and as text for people.

What `--json` prints is stable: a name keeps its meaning and its type; later versions may add names.

- An outcome has a `type`: `yes_no` (`probability`), `choice` (`value`, `probabilities`, `none_probability`),
  `scale` (`mean`, `probabilities` by level), `refusal` (`reason`, `category`) or `undecided` (`reason`), and the
  fields of the class it stands for, such as `low`, `high`, `label_mass`, `method` and `attempts`.
- `ask`, `choose` and `rate` print an outcome with `model`, `usage` and `seconds`.
- `filter-tools` prints the `tools` that it kept, as they were given, and `verdicts` (`name`, `kept`, `probability`,
  `reason`); `route` the `route`, the `probabilities` by route and `why`; `rerank` what it `ranked` (`index`, `score`,
  `preference`, `document`), what is `unscored` and `alarms`; `guard` the `band`, a `message` and `checks` (`name`,
  `band`, `probability` of rejection, `answer`). All add `model`, `usage` and `seconds`; when a question has no answer, its outcome takes their place.
- An error has the `type` `error`, its class as `error`, and a `message`.
- A line of `map` has its `row`, what was copied under `copied`, and either `answers` (question -> outcome), `model`
  and `usage`, or an `error`. Its summary has `rows` and their outcomes, `usage` and `exit_code`.
- `calibrate` prints `cards` (`file`, `sets`, the `card` as in its file, `improved`, `ece_before`, `ece_after`, `ece_by_chance`),
  what is `skipped` (`subject`, `rows`, `why`), how many rows are `unanswered`, and `usage` where a model was asked.
- `calls check` prints a `plan`: per call `id`, `name`, `arguments_text`, `action` (`run`, `wait`, `settled`), `why`,
  `reason`, `risk`, and the `status` and `result` of one that is settled; and `model`, `usage` and `seconds`. `calls approve` prints `id` (of the record)
  and `decisions` (call id -> `allow`, `message`), which `yesno.toolcalls.read_answers` reads.
- `bench run`, `bench report` and `bench import` print `runs`, `sets` (name -> `items`, `version`), `cells` (`set`, `type`, `model`,
  `template`, `strategy`, `asked`, `outcomes`, `scores`, `smooth_ece`, `latency_s`, `cost_usd` and so on), `differences` and where the
  `report` is; `bench run` adds `usage`, `stopped` and `exit_code`. `bench compare` prints `changes` (`set`, `before`, `after`, `metrics`,
  `regressions`), `unmatched`, `regressed` and `exit_code`.
- `tune` prints its report (`verdict`, `why`, `template`, `held_out`, `calibration`, `thresholds`, `calls`, and
  `templates` with their `rounds`), the `folder` and how to `use` it.
- `doctor`, `demo` and `models list` print what their tables show.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from yesno._frozen import FrozenDict
from yesno.cli.session import in_options
from yesno.evidence import Usage
from yesno.questions import Answer, ChoiceAnswer, Outcome, Refusal, ScaleAnswer, Undecided, YesNoAnswer
from yesno.response import DecisionResponse

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "answer_text",
    "bounds_text",
    "counted",
    "document",
    "error_document",
    "mass_text",
    "method_text",
    "outcome_document",
    "plain",
    "screen",
    "usage_text",
]

UNLIMITED = 1000
"""Columns of a line that nobody has to see the end of."""
_TYPES = {
    YesNoAnswer: "yes_no",
    ChoiceAnswer: "choice",
    ScaleAnswer: "scale",
    Refusal: "refusal",
    Undecided: "undecided",
}


def document(response: DecisionResponse, outcome: Outcome, seconds: float) -> dict[str, Any]:
    """Return an outcome as plain JSON values: no NaN, no infinity."""
    return {
        **outcome_document(outcome),
        "model": response.model,
        "usage": plain(response.usage),
        "seconds": round(seconds, 3),
    }


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome alone as plain JSON values."""
    return {"type": _TYPES.get(type(outcome), "custom"), **plain(outcome)}


def error_document(error: Exception) -> dict[str, Any]:
    """Return an error as plain JSON values."""
    return {"type": "error", "error": type(error).__name__, "message": in_options(str(error))}


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """Return a frozen value as what `json` can write."""
    if isinstance(value, FrozenDict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {field: plain(getattr(value, field)) for field in value.__dataclass_fields__}
    return value


def screen(*, stderr: bool = False) -> Console:
    """Return where tables go: as wide as the terminal, and without a limit in a pipe or a file."""
    from rich.console import Console

    console = Console(highlight=False, stderr=stderr)
    if not console.is_terminal:  # COLUMNS still counts
        console.width = shutil.get_terminal_size((UNLIMITED, 1)).columns
    return console


def answer_text(outcome: Outcome) -> str:
    """Return an outcome in a few words."""
    match outcome:
        case YesNoAnswer(probability=p):
            return f"yes {p:.3f}" if p >= 0.5 else f"no  {1 - p:.3f}"
        case ChoiceAnswer(value=value, probabilities=shares):
            share = outcome.none_probability if outcome.is_none else shares.get(value)
            return value if share is None else f"{value} {share:.3f}"
        case ScaleAnswer(mean=mean):
            return f"level {mean:.2f}"
        case Refusal(reason=reason):
            return f"refused ({reason})"
        case Undecided(reason=reason):
            return f"undecided ({reason})"
        case _:
            return str(outcome)


def bounds_text(outcome: Outcome) -> str:
    """Return the least and greatest value that the evidence allows, of the number that is shown."""
    if not isinstance(outcome, Answer) or outcome.low is None or outcome.high is None:
        return "-"
    low, high = outcome.low, outcome.high
    if isinstance(outcome, YesNoAnswer) and outcome.probability < 0.5:
        low, high = 1 - high, 1 - low
    return f"{low:.3f} – {high:.3f}"


def mass_text(outcome: Outcome) -> str:
    """Return the label mass, or a dash."""
    mass = getattr(outcome, "label_mass", None)
    return "-" if mass is None else f"{mass:.3f}"


def method_text(outcome: Outcome) -> str | None:
    """Return how the number came about, where it is not read from log-probabilities; else None."""
    if not isinstance(outcome, Answer) or outcome.method in (None, "logprobs"):
        return None
    if outcome.method != "sampled" or outcome.samples is None:
        return outcome.method
    error = "" if outcome.standard_error is None else f", standard error {outcome.standard_error:.3f}"
    return f"sampled, {counted(outcome.samples, 'reply', 'replies')}{error}"


def usage_text(usage: Usage) -> str:
    """Return what was used on one line; a cost that nobody knows is called unknown."""
    parts = [counted(usage.requests, "request")]
    if usage.cache_hits:
        parts[0] += f", {usage.cache_hits:,} from the cache"
    if usage.input_tokens or usage.output_tokens:
        parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
    if usage.cost_usd is None:
        parts.append("cost unknown")
    elif usage.cost_usd:
        parts.append(f"${usage.cost_usd:.4f}")
    parts += [f"{count:,} fell back ({reason})" for reason, count in usage.fallbacks.items()]
    return " · ".join(parts)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
