"""What a step costs, as ratios of times measured side by side (docs/benchmarks.md)."""
