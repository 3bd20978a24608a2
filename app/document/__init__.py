"""The state that a user can change, its history, the open scene and the jobs."""
