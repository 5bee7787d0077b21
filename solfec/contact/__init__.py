"""Contact detection: geometry tables, narrow phase, and the life of contacts."""
