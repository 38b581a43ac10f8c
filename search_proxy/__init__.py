"""The edge and everything about products: who asks, what they may see, and the search itself.

Read `gateway.py` (the HTTP edge), `proxy.py` (checks, then the backend), `backend.py` (the seam),
`backends/` and `engine/` (the embedded search), `filters/` (the filter language).
"""
