"""A picture that was drawn smaller than its place, enlarged with its edges kept."""
