"""Programs that run in the peers' own environment; none of them imports manyveils."""
