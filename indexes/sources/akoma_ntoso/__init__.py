"""Akoma Ntoso, the XML of parliaments: OASIS LegalDocML, its drafts and its national profiles."""
