//! `mcp remove`: takes a server and its rules out of `owner.toml`, and says what of it stays.

use super::owner::Owner;
use anyhow::{Result, bail};
use house::House;
use house::settings::words::suggest;
use house::terminal::{self, typed};

pub fn remove(house: &House, name: &str) -> Result<u8> {
    let owner = Owner::read(house)?;
    let names: Vec<&str> = owner.settings.mcp.keys().map(String::as_str).collect();
    let Some(server) = owner.settings.mcp.get(name) else {
        match names.as_slice() {
            [] => bail!("no MCP server is named in owner.toml"),
            names => bail!("no MCP server is called {name}: {}", suggest(name, names)),
        }
    };
    owner.write(house, &owner.without("mcp", name)?)?;
    terminal::field("removed", &format!("{name} and its rules; a guardian that runs ends it by itself"));
    let home = house.broker().join("mcp").join(name);
    if home.is_dir() {
        let told = format!("what its program kept stays in {0}; `rm -r {0}` removes that", home.display());
        terminal::field("stays", &told);
    }
    if house.broker().join("sign-ins").join(format!("{name}.json")).exists() {
        let command = typed(&format!("mcp sign-out {name}"));
        terminal::field(
            "stays",
            &format!("your sign-in there; {command} gives its tokens back and removes them"),
        );
    }
    let variables = server.variables();
    if !variables.is_empty() {
        terminal::field("stays", &format!("{} in .env", variables.join(", ")));
    }
    Ok(0)
}
