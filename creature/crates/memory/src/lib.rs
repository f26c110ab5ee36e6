//! Memory: append-only records that survive a crash, and the tail of them at the cost of the tail.
