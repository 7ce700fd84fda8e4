"""What a neural retriever is trained on: the task, batches, negatives."""
