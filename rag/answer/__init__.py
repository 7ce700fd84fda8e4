"""The written answer: optional, second to the articles, and checked by code before anybody reads it."""
