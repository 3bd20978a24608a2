"""Results of many measurements and pictures: jobs by their hash, a folder that keeps each as a file, plans of jobs, and
the processes that work on them. docs/sweeps.md shows it in use."""
