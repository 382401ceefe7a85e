"""Experiments of the papers done again, each with a page under docs/reproductions."""
