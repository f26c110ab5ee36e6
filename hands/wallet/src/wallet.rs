//! The wallet at work: judges a transfer against the chain, then reserves, signs, keeps and sends it; and says what it holds.
//!
//! Invariant: one transfer at a time is between its nonce and its sending.

use crate::amount;
use crate::fee::{Fee, Prices};
use crate::journal::{Journal, Kept, Step};
use crate::key::Key;
use crate::node::{Failed, Node, quantity};
use crate::settings::{Settings, Token};
use crate::settle::{self, Settled, settle};
use crate::transfer::{NATIVE, Transfer};
use alloy_primitives::{Address, U256, hex};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most transfers that may wait at once.
const MOST_WAITING: usize = 16;
/// Seconds after which one that waits is called stuck, and stops those after it.
const STUCK_S: i64 = 600;
/// Looks for a block with it, and the time between two: about 20 s.
const LOOKS: usize = 80;
const LOOK: Duration = Duration::from_millis(250);
/// Gas of a simulation that no block could take is no answer.
const MOST_GAS: u64 = 100_000_000;
/// Contract by which chains of the OP stack take a fee beside gas, for which a transaction has no cap
/// (https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle).
const FEE_BESIDE: &str = "0x420000000000000000000000000000000000000F";
/// Selectors of `balanceOf(address)` and `decimals()` (ERC-20).
const BALANCE_OF: [u8; 4] = [0x70, 0xa0, 0x82, 0x31];
const DECIMALS: [u8; 4] = [0x31, 0x3c, 0xe5, 0x67];

pub struct Wallet {
    pub settings: Settings,
    key: Key,
    node: Node,
    journal: Mutex<Journal>,
}

impl Wallet {
    pub fn new(settings: Settings, key: Key, journal: Journal) -> Self {
        Self { node: Node::new(&settings.node), settings, key, journal: Mutex::new(journal) }
    }

    pub fn address(&self) -> Address {
        self.key.address()
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends again what a kill left behind, and notes what became of the rest.
    pub fn catch_up(&self) -> Result<Settled, String> {
        self.is_owners_chain()?;
        settle(&mut self.journal(), &self.node, self.address(), now_s())
    }

    /// Sends a transfer, and waits a while for a block with it.
    pub fn send(&self, arguments: Map<String, Value>) -> Result<Value, String> {
        let transfer = Transfer::read(arguments, self.address(), &self.settings)?;
        let number = self.begin(&transfer)?;
        let hash = self.journal().get(number).and_then(Kept::signed).map(|(hash, ..)| hash.to_owned());
        for hash in std::iter::repeat_n(hash.as_deref(), LOOKS).flatten() {
            match self.node.receipt(hash) {
                Ok(None) => std::thread::sleep(LOOK),
                Ok(Some(receipt)) => {
                    let mut journal = self.journal();
                    if journal.get(number).is_some_and(Kept::is_open) {
                        journal
                            .step(number, settle::mined(&receipt))
                            .map_err(|error| format!("{error:#}"))?;
                    }
                    break;
                }
                // It is looked after with the next call.
                Err(_) => break,
            }
        }
        let journal = self.journal();
        let kept = journal.get(number).ok_or("it is not in the journal any more")?;
        Ok(self.told(kept))
    }

    /// Judges, reserves, signs, keeps and hands over; nothing happened where this is an error.
    fn begin(&self, transfer: &Transfer) -> Result<u64, String> {
        let mut journal = self.journal();
        self.is_owners_chain()?;
        let settled = settle(&mut journal, &self.node, self.address(), now_s())?;
        is_free(&journal, &settled)?;
        let fee = self.simulated(transfer, &journal)?;
        let wrong = |error: anyhow::Error| format!("nothing was sent: {error:#}");
        let nonce = journal.free_nonce(settled.latest, settled.pending);
        let (amount, symbol) = transfer.told(&self.settings);
        let max_fee = amount::shown(transfer.max_fee, NATIVE);
        let reserved = Step::Reserved { at_s: now_s(), to: transfer.to.to_string(), amount, symbol, max_fee };
        let number = journal.reserve(nonce, reserved).map_err(wrong)?;
        let (bytes, hash) =
            self.key.signed(transfer.transaction(self.settings.chain, nonce, fee)).map_err(wrong)?;
        let raw = hex::encode_prefixed(bytes);
        let per_gas = u64::try_from(fee.per_gas).unwrap_or(u64::MAX);
        let most = transfer.value().saturating_add(fee.most());
        let signed = Step::Signed { hash: hash.clone(), raw: raw.clone(), most, per_gas };
        journal.step(number, signed).map_err(wrong)?;
        let step = match settle::submit(&self.node, &hash, &raw) {
            Ok(()) => Step::Sent,
            Err(Failed::Said(why)) => Step::Refused { why },
            // It may have it: the same bytes are sent again when it answers.
            Err(Failed::Silent(_)) => return Ok(number),
        };
        // Without this line it is looked after like one that a kill left behind.
        let kept = journal.step(number, step.clone());
        match (step, kept) {
            (Step::Refused { why }, Ok(())) => Err(format!("nothing was sent, the node refused it: {why}")),
            _ => Ok(number),
        }
    }

    /// The node's chain is the owner's, and gas is all it takes.
    fn is_owners_chain(&self) -> Result<(), String> {
        let (chain, owners) = (self.node.chain().map_err(Failed::words)?, self.settings.chain);
        if chain != U256::from(owners) {
            return Err(format!(
                "the node says that it is of chain {chain}, and the owner's is {owners}: nothing is done"
            ));
        }
        let code = self.node.ask("eth_getCode", json!([FEE_BESIDE, "latest"])).map_err(Failed::words)?;
        match code.as_str() {
            Some("0x") => Ok(()),
            _ => {
                Err("this chain takes a fee beside gas that no transaction can bound, so no limit would hold"
                    .to_owned())
            }
        }
    }

    /// The fee of a transfer that was seen to succeed and can be paid for.
    fn simulated(&self, transfer: &Transfer, journal: &Journal) -> Result<Fee, String> {
        let call = transfer.call(self.address());
        let fails = |failed: Failed| format!("nothing was sent, for it would fail: {}", failed.words());
        // What waits is paid from the same balance.
        let waiting = journal
            .open_ones()
            .iter()
            .filter_map(|kept| Some(kept.signed()?.2))
            .fold(U256::ZERO, U256::saturating_add);
        let balance = self.node.balance(self.address()).map_err(Failed::words)?.saturating_sub(waiting);
        let short = |needs: U256| {
            let (has, needs) = (amount::shown(balance, NATIVE), amount::shown(needs, NATIVE));
            let coin = &self.settings.native;
            Err(format!(
                "nothing was sent: {has} {coin} are free, and this needs {needs} with gas at its cap"
            ))
        };
        if balance < transfer.value() {
            return short(transfer.value());
        }
        if let Some(token) = &transfer.token {
            self.is_token_good(token, transfer.amount)?;
        }
        let result = self.node.call(&call).map_err(fails)?;
        if transfer.token.is_some() && !is_true_or_nothing(&result) {
            return Err("nothing was sent: the token's contract answers that it does not transfer".to_owned());
        }
        let estimate = self.node.number("eth_estimateGas", json!([call])).map_err(fails)?;
        let estimate = u64::try_from(estimate).ok().filter(|gas| *gas <= MOST_GAS);
        let estimate = estimate.ok_or("nothing was sent: the node estimates more gas than a block has")?;
        let fee = Fee::within(transfer.max_fee, estimate, self.prices()?).map_err(|needed| {
            let needed = amount::shown(needed, NATIVE);
            format!(
                "nothing was sent: gas costs up to {needed} {} now, and max_fee is less",
                self.settings.native
            )
        })?;
        let needs = transfer.value().saturating_add(fee.most());
        if balance < needs {
            return short(needs);
        }
        Ok(fee)
    }

    fn prices(&self) -> Result<Prices, String> {
        let block = self.node.ask("eth_getBlockByNumber", json!(["latest", false])).map_err(Failed::words)?;
        let base = block.get("baseFeePerGas").and_then(quantity).and_then(|base| u128::try_from(base).ok());
        let base = base.ok_or("the chain names no base fee (EIP-1559), and other fees are not supported")?;
        let tip = self.node.number("eth_maxPriorityFeePerGas", json!([])).map_err(Failed::words)?;
        Ok(Prices {
            base,
            tip: u128::try_from(tip).map_err(|_| "the node asks for a tip beyond all bounds")?,
        })
    }

    /// The contract has the decimals of the owner's table, and the wallet so much of it.
    fn is_token_good(&self, token: &Token, amount: U256) -> Result<(), String> {
        let decimals = self.of_token(token, DECIMALS.to_vec())?;
        if decimals != U256::from(token.decimals) {
            return Err(format!(
                "{} has {decimals} decimals, and {} in wallet.toml",
                token.symbol, token.decimals
            ));
        }
        let has = self.token_balance(token)?;
        if has < amount {
            let has = amount::shown(has, token.decimals);
            return Err(format!("nothing was sent: there are {has} {}", token.symbol));
        }
        Ok(())
    }

    fn token_balance(&self, token: &Token) -> Result<U256, String> {
        self.of_token(token, [&BALANCE_OF[..], self.address().into_word().as_slice()].concat())
    }

    fn of_token(&self, token: &Token, data: Vec<u8>) -> Result<U256, String> {
        let call = json!({"to": token.contract, "data": hex::encode_prefixed(data)});
        let result =
            self.node.call(&call).map_err(|failed| format!("{}: {}", token.symbol, failed.words()))?;
        let word: Option<[u8; 32]> = result.get(..32).and_then(|word| word.try_into().ok());
        word.map(U256::from_be_bytes)
            .ok_or_else(|| format!("{}: there is no token at its contract", token.symbol))
    }

    /// The balances, of the coin and of each token.
    pub fn balance(&self) -> Result<Value, String> {
        self.is_owners_chain()?;
        let native = self.node.balance(self.address()).map_err(Failed::words)?;
        let mut balances = Map::new();
        balances.insert(self.settings.native.clone(), amount::shown(native, NATIVE).into());
        for token in self.settings.tokens.values() {
            let told = match self.token_balance(token) {
                Ok(amount) => amount::shown(amount, token.decimals),
                Err(why) => format!("not known: {why}"),
            };
            balances.insert(token.symbol.clone(), told.into());
        }
        Ok(json!({"address": self.address().to_string(), "balances": balances}))
    }

    /// The transfers, the newest first.
    pub fn history(&self, most: usize) -> Value {
        let trouble = self.catch_up().map(|settled| settled.untaken).unwrap_or_else(Some);
        let journal = self.journal();
        let sent: Vec<Value> = journal.newest().take(most).map(|kept| self.told(kept)).collect();
        json!({"sent": sent, "trouble": trouble})
    }

    /// How things stand: chain, node, what waits and what is stuck.
    pub fn status(&self) -> Value {
        let settled = self.catch_up();
        let journal = self.journal();
        let waiting: Vec<Value> = journal.open_ones().iter().map(|kept| self.told(kept)).collect();
        let base = self.prices().ok().map(|prices| prices.base.to_string());
        let (next, trouble) = match settled {
            Ok(settled) => {
                let next = journal.free_nonce(settled.latest, settled.pending);
                (Some(next), settled.untaken.clone().or(is_free(&journal, &settled).err()))
            }
            Err(why) => (None, Some(why)),
        };
        json!({
            "address": self.address().to_string(), "chain": self.settings.chain, "coin": self.settings.native,
            "tokens": self.settings.tokens.keys().collect::<Vec<_>>(), "next_nonce": next,
            "base_fee_wei": base, "waiting": waiting, "trouble": trouble,
        })
    }

    /// A transfer as tools tell of it.
    fn told(&self, kept: &Kept) -> Value {
        let mut told = json!({"number": kept.number, "nonce": kept.nonce});
        let mut put = |name: &str, value: Value| {
            told.as_object_mut().map(|fields| fields.insert(name.to_owned(), value))
        };
        for step in &kept.steps {
            let (state, fields) = match step {
                Step::Reserved { at_s, to, amount, symbol, max_fee } => {
                    let at = jiff::Timestamp::from_second(*at_s).map(|at| at.to_string()).unwrap_or_default();
                    let fields =
                        json!({"at": at, "to": to, "amount": amount, "token": symbol, "max_fee": max_fee});
                    ("reserved: nothing is signed", fields)
                }
                Step::Signed { hash, .. } => (
                    "signed: the node may have it; the same bytes are sent until it does, so do not send it again",
                    json!({"hash": hash}),
                ),
                Step::Sent if now_s() > kept.at_s() + STUCK_S => {
                    ("stuck: the node has it, and no block takes it", json!({}))
                }
                Step::Sent => ("sent: no block has it yet", json!({})),
                Step::Mined { succeeded, block, fee } => {
                    let fee = amount::shown(fee.parse().unwrap_or_default(), NATIVE);
                    let state =
                        if *succeeded { "done" } else { "failed on the chain: only its fee was taken" };
                    (state, json!({"block": block, "fee": fee}))
                }
                Step::Refused { why } => ("refused by the node: nothing was sent", json!({"why": why})),
                Step::Void { why } => ("void: it never happens", json!({"why": why})),
            };
            put("state", state.into());
            fields.as_object().into_iter().flatten().for_each(|(name, value)| drop(put(name, value.clone())));
        }
        told
    }
}

/// Whether another transfer may follow those that wait.
fn is_free(journal: &Journal, settled: &Settled) -> Result<(), String> {
    let open = journal.open_ones();
    let oldest = open.iter().find(|kept| kept.nonce >= settled.latest);
    match oldest {
        _ if settled.untaken.is_some() => {
            let why = settled.untaken.as_deref().unwrap_or_default();
            Err(format!(
                "nothing was sent: one that is signed comes first, and the node does not take it: {why}"
            ))
        }
        Some(kept) if now_s() > kept.at_s() + STUCK_S => Err(format!(
            "nothing was sent: nonce {} is stuck for {} s, its cap is {} wei a unit of gas; the owner has to look at it",
            kept.nonce,
            now_s() - kept.at_s(),
            kept.signed().map_or(0, |(.., per_gas)| per_gas)
        )),
        _ if open.len() >= MOST_WAITING => {
            Err(format!("nothing was sent: {MOST_WAITING} wait for a block already"))
        }
        _ => Ok(()),
    }
}

/// Some tokens return nothing where they succeed.
fn is_true_or_nothing(result: &[u8]) -> bool {
    result.is_empty()
        || (result.len() >= 32 && result.iter().take(31).all(|byte| *byte == 0) && result.get(31) == Some(&1))
}

fn now_s() -> i64 {
    jiff::Timestamp::now().as_second()
}
