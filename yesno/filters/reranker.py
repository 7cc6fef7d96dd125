"""Score passages by how probable it is that they answer a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from yesno._checks import checked_count
from yesno._log import get_logger
from yesno.errors import ConfigError, QuestionError
from yesno.filters._pairs import comparisons, preferences
from yesno.filters._passages import TextOf, text_of
from yesno.filters._ranking import Alarm, Ranked, Ranking, Scores, Unscored
from yesno.flow import Ask, Flow, Runner, run_with, spent_on
from yesno.questions import Outcome, Question, Refusal, Scale, ScaleAnswer, Undecided, YesNo, YesNoAnswer
from yesno.questions.base import TOLERANCE
from yesno.templates.layers import QuestionTemplate

__all__ = ["Reranker"]

D = TypeVar("D")


class Reranker:
    """Orders documents by a question about each: does this passage help to answer the query?

    Args:
        question_template: Your own question in Jinja; it must name `{{document}}` and nothing else.
        levels: Grades, worst first, to ask for a grade in place of yes or no; the score is the expected one.
        refine: How many of the best to compare in pairs afterwards, each pair in both orders: `refine * (refine - 1)`
            more questions, 20 for 5 and 90 for 10. 0 for none.
        max_per_request: Most questions in one request to a decision endpoint; requests of a round go out at once.
        text: Where a document's text is: the name of a key or an attribute, or a function of the document. By
            default a document is a text, or holds one under `text`, `page_content` or `content`.
        model: The model to ask when the reranker is called; a `DecisionModel` or an `AsyncDecisionModel`.

    Its methods are flows for `model.run`; with `model=` the object itself can be called as `rerank` is. What fails raises, and one failing request fails all; a document whose
    question was refused or is undecided is listed apart and never has a made-up score.

    Raises:
        ConfigError: The template lacks `{{document}}` or names something else, or a number makes no sense.
        QuestionError: The levels make no scale.
    """

    def __init__(
        self,
        *,
        question_template: str | None = None,
        levels: Iterable[str] | None = None,
        refine: int = 0,
        max_per_request: int = 20,
        text: TextOf | None = None,
        model: Runner | None = None,
    ) -> None:
        layer = "passage" if levels is None else "grade"
        self._question = QuestionTemplate(layer, question_template, ("document",), ("document",))
        self._levels = None if levels is None else Scale("?", levels).levels
        self._refine = _refine(refine)
        self._most = checked_count("max_per_request", max_per_request)
        self._text = text
        self._model = model

    def __call__(self, query: str, documents: Iterable[Any], top_k: int | None = None) -> Any:  # noqa: ANN401 - as `Runner.run`
        """Return what `model.run` gives for `rerank`: a `Ranking`, or an awaitable of it with an async model.

        Raises:
            ConfigError: The reranker was made without a model.
        """
        return run_with(self._model, self.rerank(query, documents, top_k))

    def score(self, query: str, documents: Iterable[Any]) -> Flow[Scores]:
        """Score each document.

        Raises:
            QuestionError: The query is blank, or a document has no text.
            ProviderError: The provider failed.
        """
        return self._warned(self._scoring(_checked(query), self._texts(documents)))

    def rerank(self, query: str, documents: Iterable[D], top_k: int | None = None) -> Flow[Ranking[D]]:
        """Order documents, most relevant first; raises what `score` does.

        Args:
            query: What is looked for.
            documents: Texts, or objects that hold one; they come back as they are.
            top_k: How many to keep at most; None for all.

        Raises:
            ConfigError: `top_k` is below 1.
        """
        given = list(documents)
        kept = len(given) if top_k is None else checked_count("top_k", top_k)
        return self._ranking(_checked(query), given, self._texts(given), kept)

    def _texts(self, documents: Iterable[Any]) -> list[str]:
        return [text_of(document, number, self._text) for number, document in enumerate(documents, start=1)]

    def _warned(self, scoring: Flow[Scores]) -> Flow[Scores]:
        scores = yield from scoring
        _warn(scores.alarms, len(scores.values), None)
        return scores

    def _scoring(self, query: str, texts: Sequence[str]) -> Flow[Scores]:
        if not texts:
            return Scores(())
        outcomes = yield self._asks(query, [self._asked(text) for text in texts], "document")
        values = tuple(_score(outcome) for outcome in outcomes)
        get_logger("filters").debug("documents_scored", scores=values)
        return Scores(values, tuple(outcomes), _alarms_of(values), spent_on(outcomes))

    def _ranking(self, query: str, documents: list[D], texts: list[str], kept: int) -> Flow[Ranking[D]]:
        scores = yield from self._scoring(query, texts)
        ranked: list[Ranked[D]] = []
        unscored: list[Unscored[D]] = []
        for index, (document, outcome) in enumerate(zip(documents, scores.outcomes, strict=True)):
            if isinstance(outcome, Refusal | Undecided):
                unscored.append(Unscored(document, index, outcome))
            else:
                answer = cast("YesNoAnswer | ScaleAnswer", outcome)
                ranked.append(Ranked(document, index, _score_of(answer), answer))
        ranked.sort(key=lambda item: -item.score)
        ranking = Ranking(tuple(ranked), tuple(unscored), scores.alarms, scores.usage)
        if len(ranked) > 1 and self._refine:
            ranking = yield from self._refining(query, ranking, texts)
        tied = _is_tied(ranking.ranked, kept, self._refine)
        alarms: tuple[Alarm, ...] = (*ranking.alarms, *(("tie_at_cut",) if tied else ()))
        _warn(alarms, len(documents), kept)
        return replace(ranking, ranked=ranking.ranked[:kept], alarms=alarms)

    def _refining(self, query: str, ranking: Ranking[D], texts: Sequence[str]) -> Flow[Ranking[D]]:
        best, rest = ranking.ranked[: self._refine], ranking.ranked[self._refine :]
        questions = comparisons([texts[item.index] for item in best])
        outcomes = yield self._asks(query, questions, "pair")
        means, complete = preferences(outcomes, len(best))
        alarms: tuple[Alarm, ...] = (*ranking.alarms, *(() if complete else ("unread_comparisons",)))
        if means is not None:
            compared = [replace(item, preference=mean) for item, mean in zip(best, means, strict=True)]
            best = tuple(sorted(compared, key=lambda item: -round(item.preference or 0.0, 9)))
        spent = spent_on(outcomes)
        usage = spent if ranking.usage is None or spent is None else ranking.usage + spent
        return replace(ranking, ranked=(*best, *rest), alarms=alarms, usage=usage)

    def _asked(self, text: str) -> Question[Any]:
        question = self._question.text(document=text)
        return YesNo(question) if self._levels is None else Scale(question, self._levels)

    def _asks(self, query: str, questions: Sequence[Question[Any]], name: str) -> list[Ask]:
        # a name that comes again begins another request
        given = {"query": query}
        return [Ask(asked, given, f"{name}{n % self._most + 1}") for n, asked in enumerate(questions)]


def _score(outcome: Outcome) -> float | None:
    return _score_of(outcome) if isinstance(outcome, YesNoAnswer | ScaleAnswer) else None


def _score_of(answer: YesNoAnswer | ScaleAnswer) -> float:
    return answer.probability if isinstance(answer, YesNoAnswer) else answer.mean


def _alarms_of(values: Sequence[float | None]) -> tuple[Alarm, ...]:
    known = [value for value in values if value is not None]
    found: list[Alarm] = []
    if len(known) > 1 and max(known) - min(known) <= TOLERANCE:
        found.append("constant_scores")
    if len(known) < len(values):
        found.append("unscored")
    return tuple(found)


def _is_tied(ranked: Sequence[Ranked[Any]], kept: int, refined: int) -> bool:
    """Return whether the order given, and not the model, decided who is left out of the ranking or the pairs."""
    by_score = sorted((item.score for item in ranked), reverse=True)
    for cut in {kept, refined} - {0}:
        if cut >= len(ranked):
            continue
        last, next_one = ranked[cut - 1].preference, ranked[cut].preference
        if last is None or next_one is None:
            last, next_one = by_score[cut - 1], by_score[cut]
        if abs(last - next_one) <= TOLERANCE:
            return True
    return False


def _warn(alarms: Sequence[Alarm], documents: int, kept: int | None) -> None:
    if alarms:
        get_logger("filters").warning("ranking_doubtful", alarms=list(alarms), documents=documents, kept=kept)


def _checked(query: Any) -> str:  # noqa: ANN401 - the check is the point
    if not isinstance(query, str) or not query.strip():
        raise QuestionError("`query` must be a text that is not blank")
    return query


def _refine(value: Any) -> int:  # noqa: ANN401 - the check is the point
    if type(value) is not int or value < 0 or value == 1:
        raise ConfigError(f"`refine` must be 0 or a whole number of at least 2, not {value!r}")
    return value
