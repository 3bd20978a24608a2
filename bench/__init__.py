"""Measuring, as a library on `gpu`: the command line hands it loaded scenes and options.

`build` and `trace` time a structure by itself, `frame` the whole frame through the engine; each gives a `rows.Row`.
`context` says what was measured where, `table` prints rows for people, `peers` holds other programs. `cases` are the
project's own measurements, which `python -m raygrove.bench CASE` runs; `suites` are published evaluations, run again.
"""
