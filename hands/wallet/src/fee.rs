//! The fee of a transaction: a gas limit and a price for each unit that together never exceed what was allowed; pure.

use alloy_primitives::U256;

/// Parts of a hundred that are added to an estimate: a state that changed since may need more.
const MARGIN: u64 = 20;

/// Prices of a unit of gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Of the newest block.
    pub base: u128,
    /// Asked for by those who make blocks.
    pub tip: u128,
}

/// Gas of a transaction at its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fee {
    pub gas_limit: u64,
    pub per_gas: u128,
    pub tip: u128,
}

impl Fee {
    /// The fee for an estimate, within `most`; an error says how much it would take.
    pub fn within(most: U256, estimate: u64, prices: Prices) -> Result<Self, U256> {
        let gas_limit = estimate.saturating_add(estimate.saturating_mul(MARGIN) / 100).max(1);
        let least = prices.base.saturating_add(prices.tip);
        let needed = U256::from(gas_limit) * U256::from(least);
        if needed > most {
            return Err(needed);
        }
        // Twice the price of now lets it be taken after some full blocks; the rest is not paid.
        let wanted = prices.base.saturating_mul(2).saturating_add(prices.tip);
        let allowed = u128::try_from(most / U256::from(gas_limit)).unwrap_or(u128::MAX);
        let per_gas = wanted.min(allowed);
        Ok(Self { gas_limit, per_gas, tip: prices.tip.min(per_gas) })
    }

    /// The most that is ever paid.
    pub fn most(&self) -> U256 {
        U256::from(self.gas_limit) * U256::from(self.per_gas)
    }
}
