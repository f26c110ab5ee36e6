//! The owner's settings in `wallet.toml`: the node, the chain, the tokens; checked whole before anything is signed.

use crate::amount::MOST_DECIMALS;
use crate::files;
use alloy_primitives::Address;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

pub const FILE: &str = "wallet.toml";
/// Most tokens: a balance asks the node about each.
const MOST_TOKENS: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    node: String,
    chain: u64,
    #[serde(default = "ether")]
    native: String,
    #[serde(default)]
    tokens: BTreeMap<String, WrittenToken>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenToken {
    contract: String,
    decimals: u8,
}

fn ether() -> String {
    "ETH".to_owned()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub symbol: String,
    pub contract: Address,
    pub decimals: u8,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the node's JSON-RPC.
    pub node: String,
    pub chain: u64,
    /// Symbol of the chain's own coin, of 18 decimals.
    pub native: String,
    pub tokens: BTreeMap<String, Token>,
}

impl Settings {
    pub fn load(home: &Path) -> Result<Self> {
        let path = home.join(FILE);
        let text = files::text(&path)?.with_context(|| {
            format!("{} is missing: `feral-wallet new` or `feral-wallet import` makes it", path.display())
        })?;
        Self::read(&text).with_context(|| format!("{} cannot be followed", path.display()))
    }

    pub fn read(text: &str) -> Result<Self> {
        let written: Written = toml::from_str(text)?;
        ensure!(written.chain > 0, "chain must be the number of a chain, like 1");
        let near = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        let is_near = |begins: &&str| {
            let rest = written.node.strip_prefix(*begins);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        };
        if !written.node.starts_with("https://") && !near.iter().any(is_near) {
            bail!("node must be an https:// address, or http:// on this machine");
        }
        ensure!(written.tokens.len() <= MOST_TOKENS, "there may be {MOST_TOKENS} tokens");
        ensure!(is_symbol(&written.native), "native must be a symbol, like ETH");
        let token = |(symbol, token): (String, WrittenToken)| {
            ensure!(is_symbol(&symbol) && symbol != written.native, "{symbol:?} is no symbol of a token");
            ensure!(token.decimals <= MOST_DECIMALS, "{symbol} has more than {MOST_DECIMALS} decimals");
            let contract = Address::parse_checksummed(&token.contract, None);
            let contract = contract.ok().with_context(|| {
                format!("contract of {symbol} is no address with a checksum (EIP-55): copy it from the token's own page")
            })?;
            Ok((symbol.clone(), Token { symbol, contract, decimals: token.decimals }))
        };
        let tokens: Result<BTreeMap<String, Token>> = written.tokens.into_iter().map(token).collect();
        Ok(Self { node: written.node, chain: written.chain, native: written.native, tokens: tokens? })
    }
}

fn is_symbol(text: &str) -> bool {
    (1..=20).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}
