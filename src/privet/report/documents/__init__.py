"""Documents to hand over: what they say, first, and then how it is written down."""
