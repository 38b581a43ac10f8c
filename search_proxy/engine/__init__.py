"""The embedded search engine: text, columns, postings and storage, on local files.

Reading order: `documents` (what may be indexed), `columns` and `segment` (how it is stored), `catalog_writer`
(one commit), `snapshot` (one generation, opened), `searching` (one search). Everything here blocks; threads
are the business of `backends/embedded.py`.
"""
