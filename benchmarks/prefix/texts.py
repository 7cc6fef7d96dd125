"""Long inputs that have nothing in common at their beginning, and questions about them."""

from __future__ import annotations

from yesno import YesNo

__all__ = ["QUESTIONS", "text"]

QUESTIONS = {
    "billing": YesNo("Does the customer complain about a payment?"),
    "refund": YesNo("Does somebody promise a refund?"),
    "angry": YesNo("Is the customer angry at the end?"),
    "solved": YesNo("Is the problem solved at the end?"),
    "outage": YesNo("Is there an outage of the service?"),
    "cancel": YesNo("Does the customer want to cancel?"),
    "private": YesNo("Does somebody write down a password?"),
    "second": YesNo("Does a second employee take part?"),
}

_WHO = ("Ada", "Bruno", "Chen", "Dalia", "Emil", "Farah", "Goran", "Hanne", "Ivo", "Jana", "Kofi")
_WHAT = (
    "the invoice for this month shows the same amount twice, and only one of them was ever agreed on",
    "the export of the report stops after a few rows and says that the file is being used elsewhere",
    "a colleague looked at the account and saw nothing unusual apart from two visits late at night",
    "the new plan was chosen by mistake and should be taken back before the next payment is due",
    "the page loads slowly in the morning, while in the afternoon everything works as it should",
    "the answer to the last message got lost, so the whole story has to be told once more",
    "somebody from accounting will call back before the end of the week with the exact numbers",
    "the settings were restored from the copy of last week, which brought most of the labels back",
    "the second address in the profile is out of date and letters keep going to the old office",
)


def text(number: int, *, lines: int = 25) -> str:
    """Return a conversation of about 1,000 tokens; each number begins with other words."""
    shown = []
    for line in range(lines):
        who = _WHO[(3 * number + line) % len(_WHO)]
        what = _WHAT[(5 * number + 2 * line) % len(_WHAT)]
        shown.append(f"{number * 37 + line * 11} {who} writes to ticket {number * 101 + line}: {what}.")
    return "\n".join(shown)
