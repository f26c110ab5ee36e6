//! Resources of a server that the owner has watched: subscribed to as long as its session lasts, in the way of its revision.
//!
//! Its news of them is kept until it is told on, bounded; a change of its tools is heard here too, where its revision
//! tells of that to those who listen alone.

use super::handler::Handler;
use crate::ground::globs::globs;
use house::mutex::lock;
use rmcp::model::{
    PaginatedRequestParams, ServerNotification, ServerPeerInfo, SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// Most resources of a server that are watched, most bytes of the address of one, and most pages they are listed on.
const MOST: usize = 64;
const MOST_ADDRESS: usize = 1_000;
const MOST_PAGES: usize = 20;
const LIST: Duration = Duration::from_secs(30);
/// Pause before it is listened to again; it doubles where that did not last.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Patterns of the owner's, and resources that are not as they were.
#[derive(Default)]
pub struct Watched {
    patterns: Vec<String>,
    changed: Mutex<BTreeSet<String>>,
    /// Told when its list of resources is another.
    pub relist: Notify,
}

impl Watched {
    pub fn new(patterns: &[String]) -> Self {
        Self { patterns: patterns.to_vec(), ..Self::default() }
    }

    pub fn is_any(&self) -> bool {
        !self.patterns.is_empty()
    }

    fn has(&self, address: &str) -> bool {
        address.len() <= MOST_ADDRESS && self.patterns.iter().any(|pattern| globs(pattern, address))
    }

    /// Notes that a resource is not as it was, where it is watched.
    pub fn note(&self, address: &str) {
        let mut changed = lock(&self.changed);
        if changed.len() < MOST && self.has(address) {
            changed.insert(address.to_owned());
        }
    }

    /// Takes the resources that are not as they were.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.changed)).into_iter().collect()
    }

    /// Addresses to subscribe to: those the owner wrote whole, and those in its list that fit.
    async fn addresses(&self, peer: &Peer<RoleClient>) -> Result<BTreeSet<String>, ServiceError> {
        let (open, whole): (Vec<_>, Vec<_>) = self.patterns.iter().partition(|pattern| pattern.contains('*'));
        let mut found: BTreeSet<String> = whole.into_iter().take(MOST).cloned().collect();
        let mut cursor = None;
        let pages = if open.is_empty() { 0 } else { MOST_PAGES };
        for _ in 0..pages {
            let page =
                peer.list_resources(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
            for resource in page.resources {
                if found.len() < MOST && self.has(&resource.uri) {
                    found.insert(resource.uri.to_string());
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(found)
    }
}

/// Reason why a server is listened to no more, in this session.
enum End {
    /// It has nothing to tell by itself.
    Never,
    /// It may be listened to again.
    Broke,
}

impl From<ServiceError> for End {
    fn from(error: ServiceError) -> Self {
        if matches!(error, ServiceError::McpError(_)) { Self::Never } else { Self::Broke }
    }
}

/// Hears what a server tells by itself, until its session ends.
pub async fn follow(peer: Peer<RoleClient>, handler: Handler) {
    let Some(info) = peer.peer_info() else { return };
    let (mut known, mut pause) = (BTreeSet::new(), FIRST_PAUSE);
    loop {
        let began = Instant::now();
        let end = match info.protocol_version.has_initialize() {
            true => subscribed(&peer, &info, &handler, &mut known).await,
            false => listened(&peer, &info, &handler).await,
        };
        if matches!(end, Err(End::Never)) || peer.is_transport_closed() {
            return;
        }
        pause = if began.elapsed() > LONGEST_PAUSE { FIRST_PAUSE } else { pause };
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

async fn to_subscribe(
    peer: &Peer<RoleClient>,
    info: &ServerPeerInfo,
    handler: &Handler,
) -> Result<BTreeSet<String>, End> {
    let can = info.capabilities.resources.as_ref().is_some_and(|can| can.subscribe == Some(true));
    if !can || !handler.watched.is_any() {
        return Ok(BTreeSet::new());
    }
    timeout(LIST, handler.watched.addresses(peer)).await.map_err(|_| End::Broke)?.map_err(End::from)
}

/// Subscribes as revisions before 2026-07-28 have it, and waits until its list of resources is another.
async fn subscribed(
    peer: &Peer<RoleClient>,
    info: &ServerPeerInfo,
    handler: &Handler,
    known: &mut BTreeSet<String>,
) -> Result<(), End> {
    let addresses = to_subscribe(peer, info, handler).await?;
    if addresses.is_empty() && !handler.watched.is_any() {
        return Err(End::Never);
    }
    for address in addresses {
        if known.insert(address.clone()) {
            #[allow(deprecated, reason = "servers of the revisions before 2026-07-28 are subscribed to so")]
            let said = peer.subscribe(SubscribeRequestParams::new(address.clone())).await;
            match said {
                // The others may be there.
                Ok(()) | Err(ServiceError::McpError(_)) => {}
                Err(_) => {
                    known.remove(&address);
                    return Err(End::Broke);
                }
            }
        }
    }
    handler.watched.relist.notified().await;
    Ok(())
}

/// Listens as the revision 2026-07-28 has it, until it ends that or its list of resources is another.
async fn listened(peer: &Peer<RoleClient>, info: &ServerPeerInfo, handler: &Handler) -> Result<(), End> {
    let addresses = to_subscribe(peer, info, handler).await?;
    let can = &info.capabilities;
    let tools = can.tools.as_ref().is_some_and(|can| can.list_changed == Some(true));
    let lists = can.resources.as_ref().is_some_and(|can| can.list_changed == Some(true));
    let lists = lists && handler.watched.is_any();
    if !tools && !lists && addresses.is_empty() {
        return Err(End::Never);
    }
    let mut filter = SubscriptionFilter::builder();
    if tools {
        filter = filter.tools_list_changed();
    }
    if lists {
        filter = filter.resources_list_changed();
    }
    if !addresses.is_empty() {
        filter = filter.resource_subscriptions(addresses);
    }
    let mut heard = peer.listen(filter.build()).await?;
    while let Some(said) = heard.next().await? {
        // Nothing else was asked for.
        #[allow(clippy::wildcard_enum_match_arm)]
        match said {
            ServerNotification::ResourceUpdatedNotification(said) => handler.watched.note(&said.params.uri),
            ServerNotification::ToolListChangedNotification(_) => handler.has_other_tools(),
            ServerNotification::ResourceListChangedNotification(_) => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}
