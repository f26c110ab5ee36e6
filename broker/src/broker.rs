//! Assembles the broker: its parts and what each uses, the door in front of them, and background tasks.

use crate::approvals::asks::Asks;
use crate::approvals::{self, Approvals, answers};
use crate::cargo::{self, Cargo};
use crate::channels::{self, Channels};
use crate::door::Door;
use crate::door::callers::{Caller, Life};
use crate::ground::clock::Clock;
use crate::ground::hosts::Resolver;
use crate::handles::Handles;
use crate::health;
use crate::llm::choice::{self, Chosen};
use crate::llm::experience::Experience;
use crate::llm::offers::Providers;
use crate::llm::{self, Llm};
use crate::money::budget::Budget;
use crate::money::prices::Prices;
use crate::packages::{self, Packages};
use crate::policy::Policy;
use crate::secrets::keys::Keys;
use crate::services::mcp::{self, Mcp};
use crate::services::oauth::SignIns;
use crate::services::{self, Services, approved, implicit};
use crate::web::pages::Pages;
use crate::web::{self, Web};
use anyhow::Result;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use house::House;
use serde_json::{Value, json};
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
    pub channels: Arc<Channels>,
    handles: Arc<Handles>,
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
        let resolver = Resolver { fake_ip: policy.dns.fake_ip };
        let handles = Handles::open(house, clock, keys, resolver)?;
        let approvals = Arc::new(Approvals {
            asks: Asks::open(&handles.house, handles.clock.clone())?,
            when_tainted: policy.taint,
            handles: handles.clone(),
        });
        let services = Services {
            all,
            sign_ins: SignIns::new(handles.clone()),
            mcp: Mcp::new(&policy.mcp, &policy.web, &handles),
            posting: tokio::sync::Mutex::default(),
            approvals: approvals.clone(),
            handles: handles.clone(),
        };
        let pages = Pages::new(handles.own_port.clone(), resolver)?;
        let web = Web { settings: policy.web.clone(), pages, handles: handles.clone() };
        Ok(Self {
            llm: llm(&handles, &policy, chosen, fingerprint),
            web: Arc::new(web),
            cargo: Arc::new(Cargo::new(handles.clone())),
            packages: Arc::new(Packages::new(policy.packages.clone(), approvals.clone())),
            services: Arc::new(services),
            channels: Arc::new(Channels::new(&policy.channels, handles.clone())),
            approvals,
            handles,
        })
    }

    /// All routes of the broker.
    fn routes(&self) -> Router {
        Router::new()
            .route("/status", get(status))
            .route("/taint", post(taint))
            .with_state(self.clone())
            .merge(services::routes::routes(self.services.clone()))
            .merge(mcp::routes::routes(self.services.clone()))
            .merge(approvals::purpose::routes(self.approvals.clone()))
            .merge(llm::pass::routes(self.llm.clone()))
            .merge(web::routes(self.web.clone()))
            .merge(packages::routes(self.packages.clone()))
            .merge(channels::routes(self.channels.clone()))
    }

    /// Serves until the listener fails.
    pub async fn serve(self, listener: TcpListener) -> Result<()> {
        self.serve_until(listener, None, std::future::pending()).await
    }

    /// Serves until told to end; the channels are served on a listener of their own too, where there is one.
    pub async fn serve_until(
        self,
        listener: TcpListener,
        of_channels: Option<TcpListener>,
        told: impl Future<Output = ()>,
    ) -> Result<()> {
        for own in [Some(&listener), of_channels.as_ref()].into_iter().flatten() {
            self.handles.own_port.set(own.local_addr()?.port());
        }
        let (cargo, channels) = (self.cargo.clone(), self.channels.clone());
        let proxy = Arc::new(move |caller, request| -> Pin<Box<dyn Future<Output = _> + Send>> {
            match caller {
                Caller::Channels => Box::pin(channels::proxy(channels.clone(), request)),
                Caller::Life(_) | Caller::Build => Box::pin(cargo::proxy(cargo.clone(), caller, request)),
            }
        });
        let door = Door::new(self.handles.tokens.clone(), self.routes(), proxy);
        // Ends when serving ends.
        let mut watching = tokio::task::JoinSet::new();
        let llm = self.llm.clone();
        watching.spawn(async move { llm.look_nearby().await });
        watching.spawn(mcp::listing::meet(self.services.clone()));
        watching.spawn(mcp::standing::tell(self.services.clone(), self.llm.budget.clone()));
        watching.spawn(mcp::news::tell(self.services.clone()));
        let services = self.services.clone();
        watching.spawn(answers::watch(self.approvals.clone(), move |id| {
            tokio::spawn(approved::carry_out(services.clone(), id));
        }));
        if let Some(listener) = of_channels {
            watching.spawn(door.clone().serve_until(listener, std::future::pending()));
        }
        door.serve_until(listener, told).await;
        self.services.mcp.farewell().await;
        self.channels.farewell().await;
        Ok(())
    }
}

/// The part that calls models.
fn llm(handles: &Arc<Handles>, policy: &Policy, chosen: Chosen, fingerprint: String) -> Arc<Llm> {
    let (clock, ledger) = (handles.clock.clone(), handles.ledger.clone());
    let budget = Budget::new(&handles.house, clock, ledger, &policy.budget, policy.rate(), fingerprint);
    budget.tell_of_mind(chosen.told());
    let llm = Llm {
        providers: Providers::new(chosen, handles.outward.clone(), handles.clock.clone()),
        prices: Prices::new(policy),
        experience: Experience::default(),
        budget,
        handles: handles.clone(),
    };
    llm.tell_of_offers();
    Arc::new(llm)
}

async fn status(State(broker): State<Broker>, Extension(Life(life)): Extension<Life>) -> Json<Value> {
    Json(json!({
        "model": broker.llm.status().await,
        "budget": broker.llm.budget.view(),
        "services": broker.services.listed(),
        "tainted": broker.handles.taint.is_tainted(life),
        "asks_waiting": broker.approvals.asks.waiting(),
        "mcp": mcp::listing::lines(&broker.services),
    }))
}

/// Notes that the creature is about to read what may be text of others: a skill that it wrote itself.
async fn taint(State(broker): State<Broker>, Extension(Life(life)): Extension<Life>) -> Response {
    match broker.handles.taint.try_read_untrusted(life) {
        Ok(()) => Json(json!({"ok": true})).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}
