"""What the whole window works with, made before any widget: the document's choices, the loop of frames, what is
remembered, what is told, and the files that were opened."""
