"""Shape objects before they become bodies: generators, transforms, characteristics, and their compilation into primitives."""
