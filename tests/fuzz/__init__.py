"""Random tables and policies of the whole grammar, published, and judged by an oracle that shares no code with src.

A case is a number and a seed, or a JSON file. An outcome is a release that the oracle confirms or one of our errors
within the time limit; anything else is a finding. Run it with `make fuzz`.
"""
