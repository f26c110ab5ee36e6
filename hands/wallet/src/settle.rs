//! Brings open transfers up to date with the chain, and sends again what the node does not know, as the same bytes.

use crate::journal::{Journal, Kept, Step};
use crate::node::{Failed, Node, quantity};
use alloy_primitives::{Address, U256};
use serde_json::{Value, json};

/// Seconds after which a transfer whose nonce was used by another transaction is given up.
const GIVEN_UP_S: i64 = 3_600;

/// The state of the chain and the node that a next transfer begins from.
#[derive(Debug, Default)]
pub struct Settled {
    /// Nonces that are in blocks, and those with what waits beside.
    pub latest: u64,
    pub pending: u64,
    /// Signed, and the node does not take it, with its words.
    pub untaken: Option<String>,
}

/// Looks after all that may still happen.
pub fn settle(journal: &mut Journal, node: &Node, own: Address, now_s: i64) -> Result<Settled, String> {
    let mut settled = Settled {
        latest: node.count(own, false).map_err(Failed::words)?,
        pending: node.count(own, true).map_err(Failed::words)?,
        untaken: None,
    };
    for one in journal.open_ones() {
        for step in steps(&one, node, &mut settled, now_s)? {
            journal.step(one.number, step).map_err(|error| format!("{error:#}"))?;
        }
    }
    Ok(settled)
}

/// The steps of a transfer that became known.
fn steps(one: &Kept, node: &Node, settled: &mut Settled, now_s: i64) -> Result<Vec<Step>, String> {
    let Some((hash, raw, ..)) = one.signed() else {
        return Ok(vec![Step::Void { why: "it was never signed".to_owned() }]);
    };
    if let Some(receipt) = node.receipt(hash).map_err(Failed::words)? {
        return Ok(vec![mined(&receipt)]);
    }
    if one.nonce < settled.latest {
        // A receipt may come later than the count; another one with the nonce makes this impossible for ever.
        let why = "another transaction of this key took its nonce".to_owned();
        return Ok(if now_s > one.at_s() + GIVEN_UP_S { vec![Step::Void { why }] } else { vec![] });
    }
    let had = |one: &Kept| {
        if one.is_sent() { vec![] } else { vec![Step::Sent] }
    };
    if node.knows(hash).map_err(Failed::words)? {
        return Ok(had(one));
    }
    match submit(node, hash, raw) {
        Ok(()) => Ok(had(one)),
        Err(failed) => {
            settled.untaken = Some(failed.words());
            Ok(vec![])
        }
    }
}

/// Hands signed bytes to the node. Bytes that it knows already count as taken.
pub fn submit(node: &Node, hash: &str, raw: &str) -> Result<(), Failed> {
    match node.ask("eth_sendRawTransaction", json!([raw])) {
        Ok(_) => Ok(()),
        Err(Failed::Said(words)) => match node.knows(hash) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failed::Said(words)),
            Err(failed) => Err(Failed::Silent(failed.words())),
        },
        Err(failed) => Err(failed),
    }
}

/// The step that a receipt tells of.
pub fn mined(receipt: &Value) -> Step {
    let number = |name: &str| receipt.get(name).and_then(quantity).unwrap_or_default();
    let fee = number("gasUsed").saturating_mul(number("effectiveGasPrice"));
    Step::Mined {
        succeeded: number("status") == U256::from(1),
        block: number("blockNumber").to_string(),
        fee: fee.to_string(),
    }
}
