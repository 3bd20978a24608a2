"""The engine at work: frames for the window on their own thread, pictures without a window, and exports."""
