"""Measuring, as a library on `gpu`: the command line hands it loaded scenes and options.

`build` and `trace` time a structure by itself, `frame` the whole frame through the engine; each gives a `rows.Row`. `context` says what was measured
where, `table` prints rows for people, `peers` holds other programs, `goals` checks the figures that the project has promised,
`claims` writes what pages quote of the newest results that are kept.
"""
