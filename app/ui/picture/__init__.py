"""The picture: how it is shown (OpenGL or Qt's painter), what lies over it, and mouse and keys in it."""
