//! placeholder for the tests with processes, written next.
