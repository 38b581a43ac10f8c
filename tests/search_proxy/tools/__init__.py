"""The agent tools, in process."""
