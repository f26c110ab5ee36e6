//! The owner's orders as the heart reads them: whether one is to stop.

use ground::{House, files};
use serde::{Deserialize, Serialize};

/// An order, as the command writes it to its file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    pub order: String,
    #[serde(default)]
    pub to: Option<String>,
}

/// Whether the order in the file is to stop.
pub fn is_to_stop(house: &House) -> bool {
    let bytes = files::read_small(&house.order()).ok().flatten().unwrap_or_default();
    serde_json::from_slice::<Order>(&bytes).is_ok_and(|order| order.order == "stop")
}
