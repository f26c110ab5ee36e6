//! Repeats: the same call with the same result, noticed before it becomes a loop.
