"""Write an answer with a language model: prompt, call, stream, parse."""
