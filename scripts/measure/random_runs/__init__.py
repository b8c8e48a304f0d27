"""Random comparisons with the original tools: inputs and option sets drawn from a seed. See scripts/compare/random."""
