"""The same policy, the same promises and the same release folder, for tables that one machine does not hold.

Spark counts, the methods' own code decides on the counts, and Spark applies what was decided, batch by batch.
"""
