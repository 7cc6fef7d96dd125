"""What more questions about the same input cost on a model that keeps the beginning of a prompt."""
