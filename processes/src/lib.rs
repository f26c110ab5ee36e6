//! Process trees: what they need, how they are started behind walls, searched for and ended whole.

pub mod alone;
pub mod child;
pub mod exits;
pub mod granted;
pub mod hunt;
pub mod machine;
pub mod made;
pub mod packages;
pub mod place;
pub mod prepare;
pub mod programs;
pub mod trusted;
