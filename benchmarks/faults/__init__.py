"""What becomes of decisions when three requests in ten fail."""
