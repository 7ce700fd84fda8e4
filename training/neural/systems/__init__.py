"""The systems that can be trained, one module each, and what they share."""
