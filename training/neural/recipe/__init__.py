"""Recipes: one frozen TOML a training run, and sweeps over them."""
