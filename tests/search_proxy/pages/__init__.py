"""Tests of the web pages as they are served."""
