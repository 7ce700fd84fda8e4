"""The engine for other programs: results as JSON, a REST interface, and its client."""
