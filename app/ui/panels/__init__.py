"""The panels beside the picture: figures, charts, what was picked, and what is edited there."""
