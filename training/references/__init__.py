"""How well references are read in plain text: against labels, and against the mark-up of Akoma Ntoso."""
