"""Message passing over the legislative graph: GIR (JuriFindIT) and G-DSR."""
