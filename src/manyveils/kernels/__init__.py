"""The only compiled code: arrays in, arrays out, no names; each has a plain-Python twin in the test kit."""
