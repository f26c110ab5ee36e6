//! `mcp`: the owner's MCP servers, listed, tried, added and removed.

mod add;
pub mod block;
pub mod catalogue;
pub mod list;
pub mod owner;
pub mod proposal;
mod remove;
mod stage;
mod tried;

use crate::commands::mcp::Mcp;
use crate::commands::options::Form;
use anyhow::Result;
use house::House;

pub fn carry_out(house: &House, order: Option<Mcp>) -> Result<u8> {
    match order.unwrap_or(Mcp::List(Form { json: false })) {
        Mcp::List(Form { json }) => list::show(house, json),
        Mcp::Add(wanted) => add::add(house, &wanted),
        Mcp::SignIn { name, port } => stage::sign_in(house, &name, port),
        Mcp::SignOut { name } => stage::replaced_by(house, &["--sign-out", &name]),
        Mcp::Remove { name } => remove::remove(house, &name),
        Mcp::Test(wanted) => tried::show(house, &wanted.name, wanted.form.json),
    }
}
