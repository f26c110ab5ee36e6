//! Process trees: what they need, how they are started behind walls, searched for and ended whole.

pub mod alone;
pub mod child;
pub mod exits;
pub mod granted;
pub mod machine;
pub mod made;
pub mod place;
pub mod prepare;
pub mod programs;
pub mod trusted;

pub use ground::hunt;
