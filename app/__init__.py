"""The program: command line, window, and what both share."""

import os

# Before numpy is there. Of some twenty starts one hung in a product of matrices, on a thread that made a scene beside
# others that started compilers: most likely it waited for OpenBLAS's threads. Our products are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
