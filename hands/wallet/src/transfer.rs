//! A transfer as it is asked for, read strictly, and the transaction it becomes; pure.
//!
//! Invariant: a transaction either moves the chain's own coin with no data, or calls `transfer` of a token in the owner's
//! table. Nothing else can be expressed.

use crate::amount;
use crate::fee::Fee;
use crate::settings::{Settings, Token};
use alloy_consensus::TxEip1559;
use alloy_primitives::{Address, Bytes, TxKind, U256};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Decimals of a chain's own coin.
pub const NATIVE: u8 = 18;
/// Selector of `transfer(address,uint256)` (ERC-20, https://eips.ethereum.org/EIPS/eip-20).
const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    to: String,
    amount: String,
    token: Option<String>,
    max_fee: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub to: Address,
    /// In the smallest unit of the token, or of the chain's own coin.
    pub amount: U256,
    pub token: Option<Token>,
    /// Most that gas may cost, in the smallest unit of the chain's own coin.
    pub max_fee: U256,
}

impl Transfer {
    pub fn read(arguments: Map<String, Value>, own: Address, settings: &Settings) -> Result<Self, String> {
        let asked: Asked = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            format!("{error}; send takes to, amount, max_fee and for a token its symbol as token, all of them text")
        })?;
        let token = match &asked.token {
            None => None,
            Some(symbol) => {
                Some(settings.tokens.get(symbol).cloned().ok_or_else(|| unknown(symbol, settings))?)
            }
        };
        let to = Address::parse_checksummed(&asked.to, None).map_err(|_| {
            "to is no address with its checksum (EIP-55, capital and small letters as they were given): copy it whole"
        })?;
        if to.is_zero() || to == own || settings.tokens.values().any(|token| token.contract == to) {
            return Err("to is the zero address, this wallet or the contract of a token: what goes there is lost or goes \
                        nowhere"
                .to_owned());
        }
        let decimals = token.as_ref().map_or(NATIVE, |token| token.decimals);
        let amount = amount::read(&asked.amount, decimals).map_err(|error| format!("amount: {error}"))?;
        let max_fee = amount::read(&asked.max_fee, NATIVE).map_err(|error| format!("max_fee: {error}"))?;
        if amount.is_zero() {
            return Err("amount is nothing".to_owned());
        }
        Ok(Self { to, amount, token, max_fee })
    }

    /// The address that the transaction calls, its value and its data.
    fn parts(&self) -> (Address, U256, Vec<u8>) {
        let Some(token) = &self.token else {
            return (self.to, self.amount, Vec::new());
        };
        let mut data = TRANSFER.to_vec();
        data.extend_from_slice(self.to.into_word().as_slice());
        data.extend_from_slice(&self.amount.to_be_bytes::<32>());
        (token.contract, U256::ZERO, data)
    }

    /// Of the chain's own coin, without gas.
    pub fn value(&self) -> U256 {
        self.parts().1
    }

    /// The call by which a node simulates it.
    pub fn call(&self, from: Address) -> Value {
        let (to, value, data) = self.parts();
        json!({"from": from, "to": to, "value": value, "data": Bytes::from(data)})
    }

    pub fn transaction(&self, chain_id: u64, nonce: u64, fee: Fee) -> TxEip1559 {
        let (to, value, data) = self.parts();
        TxEip1559 {
            chain_id,
            nonce,
            gas_limit: fee.gas_limit,
            max_fee_per_gas: fee.per_gas,
            max_priority_fee_per_gas: fee.tip,
            to: TxKind::Call(to),
            value,
            input: data.into(),
            ..TxEip1559::default()
        }
    }

    /// The amount in whole units, and its symbol.
    pub fn told(&self, settings: &Settings) -> (String, String) {
        match &self.token {
            Some(token) => (amount::shown(self.amount, token.decimals), token.symbol.clone()),
            None => (amount::shown(self.amount, NATIVE), settings.native.clone()),
        }
    }
}

fn unknown(symbol: &str, settings: &Settings) -> String {
    let known: Vec<&str> = settings.tokens.keys().map(String::as_str).collect();
    let symbol: String = symbol.chars().take(20).collect();
    format!(
        "there is no token {symbol:?} in the owner's table; there are: {}; leave token out for {}",
        if known.is_empty() { "none".to_owned() } else { known.join(", ") },
        settings.native
    )
}
