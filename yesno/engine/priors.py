"""Which questions are asked of many inputs, and what was measured about a model's favourites among their answers."""

from __future__ import annotations

from threading import Lock
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from yesno.engine.memory import Keeper
from yesno.errors import ConfigError
from yesno.messages import Input
from yesno.questions import Question
from yesno.reading.priors import Prior

__all__ = ["PriorPolicy", "Priors", "checked_policy"]

PriorPolicy: TypeAlias = Literal["auto", "content_free", "off"]
_POLICIES = ("auto", "content_free", "off")
KEPT = 1024
"""Most questions remembered; the one noted first is forgotten first."""

V = TypeVar("V")


class Priors:
    """Memory of one model object, shared by its threads and tasks.

    A question *stands* when it was announced (`map` does that for its questions) or when a second, different
    input is asked of it. Asking the same question of the same input again changes nothing.
    """

    def __init__(self, policy: PriorPolicy = "auto", keeper: Keeper | None = None) -> None:
        self.policy = policy
        self._keeper = keeper
        self._first: _Memory[int | None] = _Memory()
        self._known: _Memory[Prior | None] = _Memory()
        self.era = 0
        """How often something was learned that may change an answer."""

    def announce(self, question: Question[Any]) -> None:
        """Note that many inputs will be asked this question."""
        if self.policy != "off":
            self._stand(repr(question))

    def wanted(self, question: Question[Any], given: Input, measured_for: frozenset[str]) -> bool:
        """Return whether the prior of a question is to be taken out.

        Args:
            question: The question.
            given: The input it is asked of now.
            measured_for: Kinds of questions for which that was measured to help the model.
        """
        if self.policy == "content_free":
            return True
        if self.policy == "off" or question.kind not in measured_for:
            return False
        name, now = repr(question), hash(repr(given))
        first = self._first.setdefault(name, now)
        if first is not None and first != now:
            self._stand(name)
            return True
        return first is None

    def known(self, name: str, size: int) -> Prior | Literal["unmeasured"] | None:
        """Return what was measured under a name for so many labels; None when the probes did not list every one."""
        known: Prior | Literal["unmeasured"] | None = self._known.get(name, "unmeasured")
        if known == "unmeasured" and self._keeper is not None:
            return self._keeper.prior(name, size) or known
        return known

    def keep(self, name: str, prior: Prior | None) -> None:
        """Keep what was measured."""
        self.era += 1
        self._known.put(name, prior)
        if prior is not None and self._keeper is not None:
            self._keeper.note_prior(name, prior)

    def _stand(self, name: str) -> None:
        self.era += self._first.get(name, "") is not None
        self._first.put(name, None)


class _Memory(Generic[V]):
    """A mapping of bounded size for many threads."""

    def __init__(self) -> None:
        self._items: dict[str, V] = {}
        self._lock = Lock()

    def get(self, name: str, default: Any) -> Any:  # noqa: ANN401 - what was kept, or the default
        return self._items.get(name, default)

    def put(self, name: str, value: V) -> None:
        with self._lock:
            self._items.pop(name, None)
            self._items[name] = value
            while len(self._items) > KEPT:
                del self._items[next(iter(self._items))]

    def setdefault(self, name: str, value: V) -> V:
        with self._lock:
            kept = self._items.setdefault(name, value)
            while len(self._items) > KEPT:
                del self._items[next(iter(self._items))]
            return kept


def checked_policy(value: Any) -> PriorPolicy:  # noqa: ANN401 - the check is the point
    """Return a policy unchanged, else raise `ConfigError`."""
    if value not in _POLICIES:
        raise ConfigError(f"`prior` must be one of {', '.join(map(repr, _POLICIES))}, not {value!r}")
    return value  # type: ignore[no-any-return]
