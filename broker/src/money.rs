//! Money: the cost of calls, and the limits on spending.

pub mod budget;
pub mod limits;
pub mod prices;
