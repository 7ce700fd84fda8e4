"""Update an index when the law changes, analysing only what changed."""
