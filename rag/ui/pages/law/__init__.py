"""The page by which operators look after the law of a server; a host that names no operator has none."""
