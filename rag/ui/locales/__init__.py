"""Translation catalogues of the interface, one `.po` file a language."""
