"""Traces of runs, for accounts that want them: what was asked, searched and answered, and the same again.

`recording` collects, `traced_model` and `traced_search` hand over what passes them, `trace_files` keeps,
`trace_text` shows, and `replay` runs a trace once more without a model.
"""
