"""What asking several yes/no questions in one completion costs in log loss, and saves in requests, tokens and time."""
