"""What is measured, and what is trained from a recipe."""
