"""Turns texts into vectors: MiniLM in this process, or Gemini's embeddings; and embeds what a load has left.

Without either, search is lexical alone; `opening.py` says so in words.
"""
