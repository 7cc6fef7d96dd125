"""What `yesno demo` asks: twelve questions with their right answers, written before any model saw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from yesno.questions import Choice, Question, Scale, YesNo

__all__ = ["ITEMS", "MESSAGE", "ROUTES", "TOOLS", "Item"]


@dataclass(frozen=True, slots=True)
class Item:
    """A question about an input, with its right answer: True or False, an option, or a level."""

    given: Any
    question: Question[Any]
    right: bool | str


ITEMS = (
    Item(
        "I was charged twice for my March invoice. Please send one of the payments back.",
        YesNo("Is this about billing?"),
        True,
    ),
    Item(
        "Congratulations! You have been selected for a FREE cruise. Call 0900 555 123 now to claim, 1.50/min.",
        YesNo("Is this message spam?", yes_when="it is unsolicited advertising, a prize or a scam"),
        True,
    ),
    Item(
        "Hi Tom, dinner at ours on Friday? Bring the kids. Anna",
        YesNo("Is this message spam?", yes_when="it is unsolicited advertising, a prize or a scam"),
        False,
    ),
    Item(
        "The parcel arrived on Tuesday, two days early, and everything in it was intact.",
        YesNo("Is the customer complaining about something?"),
        False,
    ),
    Item(
        "Water boils at a lower temperature on high mountains because the air pressure is lower there.",
        YesNo("Does the text say that water boils at a lower temperature on a mountain?"),
        True,
    ),
    Item(
        {"subject": "App crashes", "body": "Since the update the app closes as soon as I open the camera."},
        Choice(
            "Which team should handle this ticket?",
            {
                "billing": "payments, invoices, refunds",
                "technical": "errors, crashes, things that do not work",
                "sales": "buying, upgrading, prices",
            },
        ),
        "technical",
    ),
    Item(
        "Wie komme ich vom Bahnhof zum Hotel?",
        Choice("In which language is this text?", ["English", "French", "German", "Spanish"]),
        "German",
    ),
    Item(
        "Play some quiet piano music in the kitchen",
        Choice(
            "What does the user want?", ["play music", "set an alarm", "check the weather", "make a call"]
        ),
        "play music",
    ),
    Item(
        "Scientists have found water ice in a crater near the south pole of the Moon.",
        Choice("What is this news item about?", ["sports", "science", "business", "cooking"]),
        "science",
    ),
    Item(
        "This is the best headset I have ever owned. I love it!",
        Scale("How positive is this review?", ["negative", "neutral", "positive"]),
        "positive",
    ),
    Item(
        "It broke after two days and nobody answers my mails. I want my money back NOW.",
        Scale("How angry is the customer?", ["calm", "annoyed", "angry"]),
        "angry",
    ),
    Item(
        "The data centre is on fire and all customers are offline.",
        Scale("How urgent is this?", ["can wait a month", "can wait a week", "needs attention today"]),
        "needs attention today",
    ),
)

MESSAGE = "What will the weather be like in Lisbon tomorrow, and should I take an umbrella?"

TOOLS = {
    "get_forecast": "weather forecast for a city and a day",
    "send_email": "send an e-mail to a person",
    "convert_currency": "convert an amount of money between currencies",
    "create_invoice": "create an invoice for a customer",
}

ROUTES = {
    "small": "a small, fast model: greetings, simple facts, short look-ups",
    "large": "a large, slow model: hard mathematics, long reasoning, writing programs",
}
