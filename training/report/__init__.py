"""Reports: the papers' tables with published rows and ours, what ours cost, and where they fail."""
