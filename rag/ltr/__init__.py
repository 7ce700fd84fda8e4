"""Learning to rank: the features of candidates, and the models that score them."""
