"""Methods side by side on one table: what each keeps, and what each limit costs."""
