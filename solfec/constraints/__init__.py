"""The tables of constraints and surface materials, and the user's constraints from step to step."""
