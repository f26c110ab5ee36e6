//! Handles that all parts of the broker share: whatever a part does, it is recorded, counted, scrubbed and sent by these.

use crate::door::callers::Tokens;
use crate::ground::clock::Clock;
use crate::ground::hosts::Resolver;
use crate::ground::hours::Hours;
use crate::ground::taint::Taint;
use crate::ledger::Ledger;
use crate::money::limits::Limits;
use crate::net::outward::Outward;
use crate::net::resolve::OwnPort;
use crate::secrets::Secrets;
use crate::secrets::keys::Keys;
use anyhow::Result;
use house::House;
use std::sync::Arc;

pub struct Handles {
    pub house: House,
    pub clock: Clock,
    pub ledger: Ledger,
    pub secrets: Secrets,
    pub tokens: Arc<Tokens>,
    pub taint: Taint,
    pub hours: Hours,
    pub limits: Limits,
    pub outward: Outward,
    pub own_port: OwnPort,
    pub resolver: Resolver,
}

impl Handles {
    pub fn open(house: House, clock: Clock, keys: Keys, resolver: Resolver) -> Result<Arc<Self>> {
        // The ledger first: its lock keeps another broker's calls from leaving beside what is counted here.
        let ledger = Ledger::open(&house, clock.clone());
        Self::with(ledger, house, clock, keys, resolver)
    }

    /// Handles of a stage that runs beside the broker: nothing is recorded by them.
    pub fn beside(house: House, keys: Keys, resolver: Resolver) -> Result<Arc<Self>> {
        let clock = Clock::default();
        Self::with(Ledger::of_another(clock.clone()), house, clock, keys, resolver)
    }

    fn with(ledger: Ledger, house: House, clock: Clock, keys: Keys, resolver: Resolver) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            ledger,
            secrets: Secrets::new(keys),
            tokens: Arc::new(Tokens::new(house.clone())),
            taint: Taint::open(&house, clock.clone()),
            hours: Hours::open(&house, clock.clone()),
            limits: Limits::open(&house),
            outward: Outward::new(resolver)?,
            own_port: OwnPort::default(),
            resolver,
            house,
            clock,
        }))
    }
}
