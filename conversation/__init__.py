"""Durable objects: one serial object per conversation, with storage and alarms."""
