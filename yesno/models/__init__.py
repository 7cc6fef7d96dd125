"""Model files for the embedded provider: which there are, where they come from, and how they get here."""
