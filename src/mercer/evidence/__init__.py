"""What a person knows: labels and pairs, read once into one form."""
