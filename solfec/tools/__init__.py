"""Sub-commands that work on results and examples: export, compare, report, new, examples (docs/running.md, Export)."""
