"""Functions in machine code, and the innermost loops in LLVM's vector instructions."""
