"""Akoma Ntoso, the XML in which parliaments publish law: OASIS LegalDocML, its drafts and national profiles."""
