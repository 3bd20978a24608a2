"""The program: command line, window, and what both share."""

import os

# Before numpy is there: a product of matrices on one thread waits for OpenBLAS's others for ever where the process
# forks meanwhile, and starts read a scene, start compilers and fork importers side by side. Ours are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
