"""What every room uses: checks, arrays, random numbers, threads, words and HTML."""
