"""What writes the reference pages, a file per page."""
