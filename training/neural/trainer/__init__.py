"""The training loop: steps, validation, checkpoints, logs, resources."""
