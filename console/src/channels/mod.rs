//! `channels`: the chats that the owner talks with the creature from, listed, added, paired, tried and removed.

mod add;
pub mod list;
mod pair;
mod remove;
mod tried;

use crate::commands::channels::{Channels, Named};
use crate::commands::options::Form;
use anyhow::{Result, bail};
use house::House;
use house::settings;
use house::settings::channels::Channel;
use house::terminal::typed;

pub fn carry_out(house: &House, order: Option<Channels>) -> Result<u8> {
    match order.unwrap_or(Channels::List(Form { json: false })) {
        Channels::List(Form { json }) => list::show(house, json),
        Channels::Add(wanted) => add::add(house, &wanted),
        Channels::Pair(Named { name }) => pair::pair(house, &name),
        Channels::Unpair(Named { name }) => pair::unpair(house, &name),
        Channels::Remove(Named { name }) => remove::remove(house, &name),
        Channels::Test { named, form } => tried::test(house, &named.name, form.json),
    }
}

/// The channel of this name in `owner.toml`.
fn named(house: &House, name: &str) -> Result<Channel> {
    let Some(channel) = settings::whole(house)?.channels.remove(name) else {
        bail!(
            "there is no [channels.{name}] in owner.toml: {} puts it there",
            typed(&format!("channels add {name}"))
        );
    };
    Ok(channel)
}
