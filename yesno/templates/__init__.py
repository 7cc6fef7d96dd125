"""From a question and an input to the text of a prompt."""

from yesno.templates.sets import TemplateSet

__all__ = ["TemplateSet"]
