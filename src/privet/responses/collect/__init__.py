"""The survey service: answers are disguised in the browser and stored as they come."""
