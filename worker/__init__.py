"""The agentic worker: from a shopper's sentence to labelled categories, streamed.

Read in this order: `routes.py` (what comes in), `payload.py` (what is valid), `agentic_search.py`
(the flow), `planning/` (where the plan comes from), `category_search.py`, `summary.py`, and
`run.py` with `sse.py` (how it reaches the shopper). `bootstrap.py` puts the parts together.
"""
