"""`aisle doctor`: looks at every part of a server and says what it found and what to do.

`findings` is what a look comes to; the `look_at_*` modules look; `examination` runs them in order, in the
server for `GET /api/v1/diagnosis` or in the command where no server answers.
"""
