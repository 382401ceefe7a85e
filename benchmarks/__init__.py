"""Speed and memory beside the alternatives, as ratios measured in one run: `python -m benchmarks`."""
