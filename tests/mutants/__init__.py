"""Code that is broken on purpose, in one place at a time, to see whether a test that runs through it notices."""
