"""What yesno costs per decision, beside the official SDK and a bare HTTP client."""
