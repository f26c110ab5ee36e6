//! `mcp add`: checks what a server needs, tries it, shows its tools, and writes its lines once the owner has said yes to them.

use super::block::Block;
use super::catalogue::{Catalogue, Known};
use super::owner::{Owner, decide, says_yes};
use super::{list, proposal, stage, tried};
use crate::backup::from_here;
use crate::commands::mcp::Add;
use anyhow::{Context, Result, bail};
use house::House;
use house::records::view::field;
use house::settings::forms::{self, Form};
use house::terminal::{self, typed};
use processes::made;
use serde_json::Value;

pub fn add(house: &House, wanted: &Add) -> Result<u8> {
    let catalogue = Catalogue::read()?;
    let Some(name) = &wanted.name else {
        catalogue.list();
        return Ok(0);
    };
    let (known, block) = meant(house, &catalogue, name, wanted)?;
    let owner = Owner::read(house)?;
    fits(house, &catalogue, &owner, &known, &block)?;
    // The guardian builds a hand once it is named.
    let is_built = |hand: &str| made::hand(hand).is_some_and(|program| program.is_file());
    let is_to_come = !block.server.hand.is_empty() && !is_built(&block.server.hand);
    let is_tried = !wanted.untried && !is_to_come;
    let answer = is_tried.then(|| try_out(house, &owner, &block, &known)).transpose()?;
    if answer.as_ref().is_some_and(|answer| field::<bool>(answer, "wants_sign_in")) {
        return after_sign_in(house, &owner, &block, &known, wanted.yes);
    }
    if let Some(answer) = answer.as_ref().filter(|answer| !field::<bool>(answer, "ok")) {
        tried::tell(answer, |_| String::new());
        let is_alone = !block.server.command.is_empty() && block.server.network == "none" && !known.fetched;
        let alone = if is_alone { "; it reaches no network without --open" } else { "" };
        bail!(
            "nothing was written, for {name} did not answer{alone}; --untried writes it all the same, and has all of it ask"
        );
    }
    let tools: &[Value] = answer.as_ref().map(tried::tools).unwrap_or_default();
    let block = with_rules(&block, &known, tools);
    if let Some(answer) = &answer {
        tried::tell(answer, |tool| proposal::verdict(&block.server.rules, tool));
    }
    let code = decide(house, &owner, &block.lines(), &known.note, wanted.yes)?;
    if code == 0 && !is_tried {
        let once = if is_to_come { ", once the guardian has built it" } else { "" };
        terminal::line(&format!("It was not tried: {} does that{once}.", typed(&format!("mcp test {name}"))));
    }
    Ok(code)
}

/// Writes a server that shows nothing before the owner signs in there, so that all of it asks; offers to sign in, and then
/// the rules that its tools propose.
fn after_sign_in(house: &House, owner: &Owner, block: &Block, known: &Known, is_yes: bool) -> Result<u8> {
    let name = &block.name;
    let [sign_in, test] = ["sign-in", "test"].map(|word| typed(&format!("mcp {word} {name}")));
    terminal::line(&format!(
        "{name} wants you to sign in before it shows its tools. Until then all of it asks."
    ));
    let asking = with_rules(block, known, &[]);
    let code = decide(house, owner, &asking.lines(), &known.note, is_yes)?;
    if code > 0 || is_yes || !says_yes("Sign in now, by a browser? (yes or no)") {
        if code == 0 {
            terminal::line(&format!("{sign_in} signs you in; {test} then shows its tools."));
        }
        return Ok(code);
    }
    if !stage::signed_in(house, name)? {
        terminal::line(&format!("It stays as it is written; {sign_in} tries again."));
        return Ok(1);
    }
    let answer = stage::ask(house, name, None)?;
    let block = with_rules(block, known, tried::tools(&answer));
    tried::tell(&answer, |tool| proposal::verdict(&block.server.rules, tool));
    if !field::<bool>(&answer, "ok") {
        return Ok(1);
    }
    match block == asking {
        true => Ok(0),
        false => decide(house, &Owner::read(house)?.in_place_of(name)?, &block.lines(), "", false),
    }
}

/// The server as it was asked for: of the catalogue, or by hand.
fn meant(house: &House, catalogue: &Catalogue, name: &str, wanted: &Add) -> Result<(Known, Block)> {
    let wrong = |what: String| move |why: String| anyhow::anyhow!("{what} {why}");
    forms::check(Form::ServiceName, name).map_err(wrong(format!("{name:?} cannot be its name:")))?;
    let given = wanted
        .set
        .iter()
        .map(|pair| pair.split_once('=').with_context(|| format!("--set takes NAME=VALUE, not {pair:?}")));
    let given: Vec<(&str, &str)> = given.collect::<Result<_>>()?;
    let named = wanted.env.iter().chain(&wanted.token_env).map(String::as_str);
    for variable in named.chain(given.iter().map(|(name, _)| *name)) {
        forms::check(Form::NeededVariable, variable).map_err(wrong("a variable".to_owned()))?;
    }
    let is_own = !wanted.command.is_empty() || wanted.url.is_some();
    let known = match &wanted.like {
        _ if is_own => Known::default(),
        like => catalogue.known(like.as_deref().unwrap_or(name))?.clone(),
    };
    let mut block = block(&known, name, wanted, is_own)?;
    block.server.set.extend(given.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
    known.wants(name, &block.server.set)?;
    let home = house.broker().join("mcp").join(name);
    let block = block.placed(&home.display().to_string(), &house.root().display().to_string());
    Ok((known, block))
}

/// Fails where it cannot be added to what there is, and says what to do about that.
fn fits(house: &House, catalogue: &Catalogue, owner: &Owner, known: &Known, block: &Block) -> Result<()> {
    let name = &block.name;
    if owner.settings.mcp.contains_key(name) {
        let [remove, test] = ["remove", "test"].map(|word| typed(&format!("mcp {word} {name}")));
        bail!(
            "{name} is in owner.toml already: {test} tries it, {remove} takes it out; another name does too"
        );
    }
    let programs: Vec<String> = known.needs.iter().chain(block.server.command.first()).cloned().collect();
    catalogue.there(&programs)?;
    let missing = list::not_set(house, block.server.variables());
    if !missing.is_empty() {
        let names = missing.join(", ");
        bail!("{names} is not set: put it into .env (NAME=VALUE, a line each), then say this again");
    }
    Ok(())
}

/// The block of a known server, with what the owner adds to it; or by hand.
fn block(known: &Known, name: &str, wanted: &Add, is_own: bool) -> Result<Block> {
    let all = |folders: &[String]| folders.iter().map(|named| folder(named)).collect::<Result<Vec<_>>>();
    let mut block = known.block(name, &wanted.words, folder)?;
    let server = &mut block.server;
    server.read.extend(all(&wanted.read)?);
    server.write.extend(all(&wanted.write)?);
    server.env.extend(wanted.env.iter().cloned());
    if is_own {
        server.command = wanted.command.clone();
        server.url = wanted.url.clone().unwrap_or_default();
    }
    if wanted.open {
        server.network = "open".to_owned();
    }
    if let Some(token) = &wanted.token_env {
        server.token_env = token.clone();
    }
    Ok(block)
}

/// The block with rules: those that are known to make sense, then what its tools propose.
fn with_rules(block: &Block, known: &Known, tools: &[Value]) -> Block {
    let mut block = block.clone();
    block.server.rules = proposal::rules(&known.server.rules, tools);
    block
}

/// A folder that the owner named from where they stand, whole.
fn folder(named: &str) -> Result<String> {
    let path = from_here(named)?;
    let found = path.canonicalize().ok().filter(|found| found.is_dir());
    let found = found.with_context(|| format!("{} is no folder", path.display()))?;
    Ok(found.to_str().context("its name is not UTF-8 text")?.to_owned())
}

/// Tries a server as it will run; what has to be fetched first is.
fn try_out(house: &House, owner: &Owner, block: &Block, known: &Known) -> Result<Value> {
    if known.fetched {
        let fetching = stage::ask(house, &block.name, Some(&owner.with(&block.fetching().lines())))?;
        if !field::<bool>(&fetching, "ok") {
            return Ok(fetching);
        }
    }
    stage::ask(house, &block.name, Some(&owner.with(&block.lines())))
}
