"""The laboratory, without a window: what is computed about structures over moving scenes."""
