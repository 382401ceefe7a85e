"""Pages for browsers: how they are made (`routing`), and what they show (`routes`)."""
