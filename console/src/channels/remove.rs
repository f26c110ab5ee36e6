//! `channels remove`: takes a channel out of `owner.toml`, its pairing with it, and says what of it stays.

use super::{named, pair};
use crate::mcp::owner::Owner;
use anyhow::Result;
use house::House;
use house::terminal;

pub fn remove(house: &House, name: &str) -> Result<u8> {
    let channel = named(house, name)?;
    let owner = Owner::read(house)?;
    owner.write(house, &owner.without("channels", name)?)?;
    // Added again, it must not hear who was paired before.
    pair::take_back(house, name)?;
    terminal::field(
        "removed",
        &format!("{name} and its pairing; a guardian that runs takes it up by itself"),
    );
    terminal::field("stays", &format!("{} in .env", channel.variables().join(", ")));
    let received = house.received().join(name);
    if received.is_dir() {
        terminal::field("stays", &format!("what you sent there, in {}", received.display()));
    }
    Ok(0)
}
