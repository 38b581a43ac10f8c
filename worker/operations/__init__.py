"""What the operations page shows: the last hours by the minute, the last days by tokens and money."""
