//! Hands: what the creature reaches the world with, behind one guarded HTTP client.
