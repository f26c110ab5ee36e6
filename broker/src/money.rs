//! Money: what calls cost, and what may be spent.

pub mod budget;
pub mod prices;
