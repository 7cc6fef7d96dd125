"""Find the template that a model answers a question best with, and say how sure that is."""
