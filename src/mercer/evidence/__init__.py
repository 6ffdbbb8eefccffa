"""What a person told: labels and pairs, read once into one form."""
