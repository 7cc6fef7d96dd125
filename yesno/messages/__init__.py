"""What questions are about: texts, mappings, and conversations in the shapes that others give them."""

from yesno.messages.inputs import Input, InputLike, freeze_input
from yesno.messages.message import Attachment, Message, Part, Role, TextPart, ToolCall
from yesno.messages.shapes import messages_of
from yesno.messages.window import Window, as_input, last_user_message, with_user_text

__all__ = [
    "Attachment",
    "Input",
    "InputLike",
    "Message",
    "Part",
    "Role",
    "TextPart",
    "ToolCall",
    "Window",
    "as_input",
    "freeze_input",
    "last_user_message",
    "messages_of",
    "with_user_text",
]
