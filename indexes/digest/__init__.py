"""The summaries that ship, compared with the official text: numbers, negation, force, persons, wording."""
