//! The autonomous state of a moment: gathered from its records and its stack. Pure.
