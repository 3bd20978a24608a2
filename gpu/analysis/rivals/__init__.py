"""Other programs that take part in races over rays, where they are installed."""
