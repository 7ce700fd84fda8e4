"""Learn how to fuse: weights, scales, learning to rank."""
