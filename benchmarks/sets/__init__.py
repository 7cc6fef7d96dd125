"""Sets for `yesno bench` that ask what the layers ask."""
