"""Publishers change a release until every promise holds, at the least cost."""
