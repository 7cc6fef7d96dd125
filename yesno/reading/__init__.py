"""From evidence to probabilities of labels: pure arithmetic."""
