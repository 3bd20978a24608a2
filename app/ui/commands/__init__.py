"""Commands as data, the actions, keys and hints made of them, and what those of the camera and of objects do."""
