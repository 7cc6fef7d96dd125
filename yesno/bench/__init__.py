"""Compare models, templates and strategies on labelled items."""
