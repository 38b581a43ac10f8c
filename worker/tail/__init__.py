"""`aisle tail`: finished requests as they end, from servers, a log file or standard input.

`tail_filter` says which are wanted, `followers` and `tail_routes` hand them out of a server, `live` and
`log_files` read them, `pretty` and `tail_summary` show them.
"""
