"""The window measured from within: modules that are processes of their own. Each reads a job (JSON) from stdin and
prints its answer (JSON); `python -m raygrove.bench` starts them (bench/measured_window.py)."""
