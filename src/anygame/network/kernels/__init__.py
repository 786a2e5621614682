"""From a network to machine code: schedule, rows, vector code as LLVM's text, and its compilation."""
