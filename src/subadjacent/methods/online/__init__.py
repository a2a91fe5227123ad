"""What one series normally does, learned from its rows as they come, with forgetting."""
