"""Tests of the sample store."""
