"""From a question and an input to the text of a prompt."""
