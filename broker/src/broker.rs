//! Assembles the broker: its parts and what each uses, the door in front of them, and background tasks.

use crate::approvals::asks::Asks;
use crate::approvals::{self, Approvals, answers};
use crate::cargo::{self, Cargo};
use crate::door::Door;
use crate::door::callers::{Life, Tokens};
use crate::ground::clock::Clock;
use crate::ground::hosts::Resolver;
use crate::ground::taint::Taint;
use crate::health;
use crate::ledger::Ledger;
use crate::llm::choice::{self, Chosen};
use crate::llm::experience::Experience;
use crate::llm::offers::Providers;
use crate::llm::{self, Llm};
use crate::mcp::{self, Mcp};
use crate::money::budget::Budget;
use crate::money::prices::Prices;
use crate::net::outward::Outward;
use crate::net::resolve::OwnPort;
use crate::packages::{self, Packages};
use crate::policy::{self, Policy};
use crate::secrets::Secrets;
use crate::secrets::keys::Keys;
use crate::services::hours::Hours;
use crate::services::janee::session::Janee;
use crate::services::oauth::SignIns;
use crate::services::upstream::Upstream;
use crate::services::{self, Services, approved, implicit};
use crate::web::pages::Pages;
use crate::web::{self, Web};
use anyhow::Result;
use axum::extract::State;
use axum::routing::get;
use axum::{Extension, Json, Router};
use house::House;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use tokio::net::TcpListener;

/// The broker's parts, made once.
#[derive(Clone)]
pub struct Broker {
    pub approvals: Arc<Approvals>,
    pub services: Arc<Services>,
    pub llm: Arc<Llm>,
    pub web: Arc<Web>,
    pub cargo: Arc<Cargo>,
    pub packages: Arc<Packages>,
    tokens: Arc<Tokens>,
    taint: Arc<Taint>,
    own_port: OwnPort,
}

impl Broker {
    pub fn open(house: House, clock: Clock) -> Result<Self> {
        let policy = Policy::load(&house)?;
        let keys = Keys::load(&house, &policy.key_names())?;
        Self::with(house, clock, policy, keys)
    }

    pub fn with(house: House, clock: Clock, policy: Policy, keys: Keys) -> Result<Self> {
        std::fs::create_dir_all(house.broker())?;
        let chosen = choice::of_house(&policy, &keys);
        let all = implicit::services(&policy, &keys);
        let values: Vec<_> = policy.key_names().iter().filter_map(|name| keys.get(name)).collect();
        let fingerprint = health::fingerprint(&house, &values);
        let parts = Parts {
            outward: Outward::new()?,
            own_port: OwnPort::default(),
            resolver: Resolver { fake_ip: policy.dns.fake_ip },
            ledger: Ledger::open(&house, clock.clone()),
            tokens: Arc::new(Tokens::new(house.clone())),
            taint: Arc::new(Taint::open(&house, clock.clone())),
            secrets: Secrets::new(keys),
            house,
            clock,
        };
        let approvals = parts.approvals(policy.taint)?;
        Ok(Self {
            llm: parts.llm(&policy, chosen, fingerprint),
            web: parts.web(policy.web.clone())?,
            cargo: parts.cargo(),
            packages: parts.packages(policy.packages.clone(), approvals.clone())?,
            services: parts.services(all, &policy, approvals.clone())?,
            approvals,
            tokens: parts.tokens,
            taint: parts.taint,
            own_port: parts.own_port,
        })
    }

    /// All routes of the broker.
    fn routes(&self) -> Router {
        Router::new()
            .route("/status", get(status))
            .with_state(self.clone())
            .merge(services::routes::routes(self.services.clone()))
            .merge(mcp::routes::routes(self.services.clone()))
            .merge(approvals::purpose::routes(self.approvals.clone()))
            .merge(llm::pass::routes(self.llm.clone()))
            .merge(web::routes(self.web.clone()))
            .merge(packages::routes(self.packages.clone()))
    }

    /// Serves until the listener fails.
    pub async fn serve(self, listener: TcpListener) -> Result<()> {
        self.serve_until(listener, std::future::pending()).await
    }

    /// Serves until told to end.
    pub async fn serve_until(self, listener: TcpListener, told: impl Future<Output = ()>) -> Result<()> {
        self.own_port.set(listener.local_addr()?.port());
        let cargo = self.cargo.clone();
        let proxy = Arc::new(move |request| -> Pin<Box<dyn Future<Output = _> + Send>> {
            Box::pin(cargo::proxy(cargo.clone(), request))
        });
        let door = Door::new(self.tokens.clone(), self.routes(), proxy);
        // Ends when serving ends.
        let mut watching = tokio::task::JoinSet::new();
        let llm = self.llm.clone();
        watching.spawn(async move { llm.look_nearby().await });
        watching.spawn(mcp::listing::meet(self.services.clone()));
        let services = self.services.clone();
        watching.spawn(answers::watch(self.approvals.clone(), move |id| {
            tokio::spawn(approved::carry_out(services.clone(), id));
        }));
        door.serve_until(listener, told).await;
        self.services.janee.farewell().await;
        self.services.mcp.farewell().await;
        Ok(())
    }
}

/// Handles shared by several parts; each part gets the handles it needs.
struct Parts {
    house: House,
    clock: Clock,
    ledger: Ledger,
    secrets: Secrets,
    tokens: Arc<Tokens>,
    taint: Arc<Taint>,
    outward: Outward,
    own_port: OwnPort,
    resolver: Resolver,
}

impl Parts {
    fn llm(&self, policy: &Policy, chosen: Chosen, fingerprint: String) -> Arc<Llm> {
        let (clock, ledger) = (self.clock.clone(), self.ledger.clone());
        let budget = Budget::new(&self.house, clock, ledger, &policy.budget, policy.rate(), fingerprint);
        budget.tell_of_mind(chosen.told());
        let llm = Llm {
            providers: Providers::new(chosen, self.outward.clone(), self.clock.clone()),
            prices: Prices::new(policy),
            experience: Experience::default(),
            budget,
            outward: self.outward.clone(),
            secrets: self.secrets.clone(),
            clock: self.clock.clone(),
        };
        llm.tell_of_offers();
        Arc::new(llm)
    }

    fn web(&self, settings: policy::Web) -> Result<Arc<Web>> {
        Ok(Arc::new(Web {
            settings,
            pages: Pages::new(self.own_port.clone(), self.resolver)?,
            ledger: self.ledger.clone(),
            taint: self.taint.clone(),
            secrets: self.secrets.clone(),
            clock: self.clock.clone(),
        }))
    }

    fn cargo(&self) -> Arc<Cargo> {
        let (registries, proxies) = cargo::of_house(&self.house);
        Arc::new(Cargo {
            registries,
            proxies,
            at_once: cargo::AtOnce::default(),
            tokens: self.tokens.clone(),
            own_port: self.own_port.clone(),
            resolver: self.resolver,
            ledger: self.ledger.clone(),
            taint: self.taint.clone(),
            secrets: self.secrets.clone(),
        })
    }

    fn packages(&self, settings: policy::Packages, approvals: Arc<Approvals>) -> Result<Arc<Packages>> {
        let upstream = Upstream::new(self.outward.clone(), self.secrets.clone(), self.resolver)?;
        Ok(Arc::new(Packages::new(settings, upstream, approvals)))
    }

    fn approvals(&self, when_tainted: policy::Taint) -> Result<Arc<Approvals>> {
        Ok(Arc::new(Approvals {
            asks: Asks::open(&self.house, self.clock.clone())?,
            when_tainted,
            tokens: self.tokens.clone(),
            taint: self.taint.clone(),
            ledger: self.ledger.clone(),
            secrets: self.secrets.clone(),
            house: self.house.clone(),
            clock: self.clock.clone(),
        }))
    }

    fn services(
        &self,
        all: BTreeMap<String, policy::Service>,
        policy: &Policy,
        approvals: Arc<Approvals>,
    ) -> Result<Arc<Services>> {
        let upstream = Upstream::new(self.outward.clone(), self.secrets.clone(), self.resolver)?;
        Ok(Arc::new(Services {
            all,
            hours: Hours::open(&self.house, self.clock.clone()),
            sign_ins: SignIns::new(
                self.secrets.clone(),
                upstream.clone(),
                self.ledger.clone(),
                self.house.clone(),
                self.clock.clone(),
            ),
            janee: Janee::new(policy.janee.clone(), self.outward.clone(), self.secrets.clone()),
            mcp: Mcp::new(&policy.mcp, &self.house, &self.outward, &self.secrets),
            upstream,
            approvals,
            ledger: self.ledger.clone(),
            taint: self.taint.clone(),
            secrets: self.secrets.clone(),
            house: self.house.clone(),
            clock: self.clock.clone(),
        }))
    }
}

async fn status(State(broker): State<Broker>, Extension(Life(life)): Extension<Life>) -> Json<Value> {
    Json(json!({
        "model": broker.llm.status().await,
        "budget": broker.llm.budget.view(),
        "services": broker.services.listed(),
        "tainted": broker.taint.is_tainted(life),
        "asks_waiting": broker.approvals.asks.waiting(),
        "janee": broker.services.janee.settings.is_some(),
        "mcp": mcp::listing::lines(&broker.services),
    }))
}
