"""Better orders for the best hits: the seam to a reranker, its candidates, and the HTTP cross-encoder."""
