//! Model: one call to a language model over the two wire formats the field speaks.
