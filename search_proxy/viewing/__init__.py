"""What a caller may see: bound to every question, and checked once more before hits leave.

`rights.py` makes the filter that retrieval is held to; `gate.py` is the seam of the check behind ranking,
`local_gate.py` and `http_gate.py` its implementations, and `judging.py` keeps page, total and facets at one
with what the gate let through (docs/decisions/0015-the-view-gate-closes-twice.md).
"""
