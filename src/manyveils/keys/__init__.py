"""What the secret codes and grades of a release mean; for the holder of the data, never part of the release."""

from manyveils.keys.interpret import interpret_rule, interpret_table
from manyveils.keys.key import Grades, Key, Meaning, Pseudonyms, read_key, write_key

__all__ = ["Grades", "Key", "Meaning", "Pseudonyms"]
__all__ += ["interpret_rule", "interpret_table", "read_key", "write_key"]
