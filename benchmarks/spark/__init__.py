"""Spark: how time grows with rows, what a second executor brings, what the driver needs, and when to stay local."""
