"""Reports: one plain dictionary first, words beside it, renderers after."""
