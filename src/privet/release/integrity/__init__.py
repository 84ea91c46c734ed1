"""Whether the files of a release are what its manifest lists, and who signed it."""
