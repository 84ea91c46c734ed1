"""Published views: what somebody learns who puts them together."""
