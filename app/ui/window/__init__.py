"""The window itself and the application that opens it: only the application knows the main window."""
