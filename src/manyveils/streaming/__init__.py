"""Tables that do not fit the memory: rows are numbers on disk, and everything is decided from counts of them."""
