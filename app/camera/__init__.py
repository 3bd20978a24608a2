"""Where cameras stand: moves by mouse and keys, paths, nodes of the file, and where lines lie in the picture."""
