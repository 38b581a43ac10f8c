"""What a process tells of itself."""
