"""Where asking happens: models, retries, limits, listeners."""
