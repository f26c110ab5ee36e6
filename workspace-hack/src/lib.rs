//! Nothing: its manifest has packages of others built with the same features whichever program is built.
