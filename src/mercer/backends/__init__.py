"""Where arrays that NumPy does not hold are worked on; each needs its extra."""
