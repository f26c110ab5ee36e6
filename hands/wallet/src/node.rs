//! The node: JSON-RPC over HTTP, each answer bounded in size and time, and believed only as far as it must be.

use alloy_primitives::{Address, U256, hex};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

const LONGEST: Duration = Duration::from_secs(8);
const MOST_BYTES: u64 = 4 << 20;
/// Characters of a node's words that are passed on.
const MOST_WORDS: usize = 300;

/// Reason why the node gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It was not reached, or no answer came: whether it acted is not known.
    Silent(String),
    /// It said no, with its words.
    Said(String),
}

impl Failed {
    pub fn words(self) -> String {
        match self {
            Self::Silent(why) => format!("the node is not reached: {why}"),
            Self::Said(why) => format!("the node says: {why}"),
        }
    }
}

pub struct Node {
    agent: Agent,
    url: String,
}

impl Node {
    pub fn new(url: &str) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(LONGEST))
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        Self { agent: config.new_agent(), url: url.to_owned() }
    }

    pub fn ask(&self, method: &str, parameters: Value) -> Result<Value, Failed> {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).to_string();
        // Its address may hold a key, so no error quotes it.
        let silent =
            |error: ureq::Error| Failed::Silent(said(&error.to_string().replace(&self.url, "its address")));
        let sent = self.agent.post(&self.url).header("content-type", "application/json").send(asked);
        let mut answer = sent.map_err(silent)?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().with_config().limit(MOST_BYTES).read_to_string().map_err(silent)?;
        let Ok(mut answer) = serde_json::from_str::<Value>(&text) else {
            return Err(Failed::Silent(format!("it answers {status} with what is no JSON")));
        };
        if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
            let words = error.get("message").and_then(Value::as_str).unwrap_or("an error without words");
            return Err(Failed::Said(said(words)));
        }
        match answer.get_mut("result").map(Value::take) {
            Some(result) => Ok(result),
            None => Err(Failed::Silent(format!("it answers {status} without a result"))),
        }
    }

    /// A number, in the form that nodes write numbers in.
    pub fn number(&self, method: &str, parameters: Value) -> Result<U256, Failed> {
        quantity(&self.ask(method, parameters)?).ok_or_else(|| Failed::Said(format!("no number as {method}")))
    }

    pub fn chain(&self) -> Result<U256, Failed> {
        self.number("eth_chainId", json!([]))
    }

    pub fn balance(&self, of: Address) -> Result<U256, Failed> {
        self.number("eth_getBalance", json!([of, "latest"]))
    }

    /// Transactions of an address; with `pending` those that wait too.
    pub fn count(&self, of: Address, pending: bool) -> Result<u64, Failed> {
        let block = if pending { "pending" } else { "latest" };
        let count = self.number("eth_getTransactionCount", json!([of, block]))?;
        u64::try_from(count).map_err(|_| Failed::Said("a count of transactions beyond all bounds".to_owned()))
    }

    /// The bytes that a contract returns to a call that changes nothing.
    pub fn call(&self, call: &Value) -> Result<Vec<u8>, Failed> {
        let result = self.ask("eth_call", json!([call, "latest"]))?;
        let bytes = result.as_str().and_then(|text| hex::decode(text).ok());
        bytes.ok_or_else(|| Failed::Said("no bytes as the result of a call".to_owned()))
    }

    /// The receipt of a transaction; `None` while it is in no block.
    pub fn receipt(&self, hash: &str) -> Result<Option<Value>, Failed> {
        Ok(Some(self.ask("eth_getTransactionReceipt", json!([hash]))?).filter(|receipt| receipt.is_object()))
    }

    /// Whether it knows a transaction, in a block or waiting.
    pub fn knows(&self, hash: &str) -> Result<bool, Failed> {
        Ok(self.ask("eth_getTransactionByHash", json!([hash]))?.is_object())
    }
}

/// A number as nodes write it: `0x…`.
pub fn quantity(value: &Value) -> Option<U256> {
    let digits = value.as_str()?.strip_prefix("0x")?;
    U256::from_str_radix(digits, 16).ok().filter(|_| !digits.is_empty())
}

/// A node's words, short and without control characters.
fn said(words: &str) -> String {
    words.chars().filter(|letter| !letter.is_control()).take(MOST_WORDS).collect()
}
