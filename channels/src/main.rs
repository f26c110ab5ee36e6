//! The program of the channels: started by the guardian where `owner.toml` names one.

fn main() {}
