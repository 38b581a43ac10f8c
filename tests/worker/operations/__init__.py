"""The numbers behind the operations page."""
