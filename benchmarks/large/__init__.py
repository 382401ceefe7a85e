"""Tables that do not fit the memory."""
