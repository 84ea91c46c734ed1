"""Where rows come from: files, data frames, text of unknown types."""
