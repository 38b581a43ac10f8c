"""What one process tells of itself: a record per finished request, metrics, traces, and its neighbours.

`Completion` is the record and `Observers` hands it on; everything else in this package listens.
"""
