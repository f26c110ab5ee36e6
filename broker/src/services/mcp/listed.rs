//! The tools of a server as it lists them, its skills among them, within bounds; what is odd about others is said.

use super::offers;
use super::skills;
use super::tool::Tool;
use rmcp::model::PaginatedRequestParams;
use rmcp::service::{Peer, RoleClient, ServiceError};
use std::collections::BTreeSet;

/// Most tools of one server, and most pages they are listed on.
const MOST_TOOLS: usize = 1_000;
const MOST_PAGES: usize = 100;

/// The tools of a server, and remarks on those that are not offered.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    pub tools: Vec<Tool>,
    pub odd: Vec<String>,
    names: BTreeSet<String>,
}

pub async fn list(peer: &Peer<RoleClient>) -> Result<Listed, ServiceError> {
    let capabilities = peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default();
    let mut listed = Listed::default();
    offers::of(&capabilities).into_iter().for_each(|tool| listed.take(Ok(tool)));
    if capabilities.supports_skills()
        && let Err(error) = listed.skills(peer).await
    {
        listed.odd.push(format!("it does not list its skills: {error}"));
    }
    if capabilities.tools.is_some() {
        listed.tools(peer).await?;
    }
    if listed.is_full() {
        listed.tools.truncate(MOST_TOOLS);
        listed.odd.push(format!("it lists more than {MOST_TOOLS} tools"));
    }
    Ok(listed)
}

/// Takes a tool, but none that is named as skills are: a rule for those lets them be read, and nothing be called.
fn tool(listed: &rmcp::model::Tool) -> Result<Tool, String> {
    match Tool::take(listed)? {
        tool if tool.name.starts_with(skills::PREFIX) => {
            Err(format!("a tool is named {}, as only skills are here", tool.name))
        }
        tool => Ok(tool),
    }
}

impl Listed {
    async fn tools(&mut self, peer: &Peer<RoleClient>) -> Result<(), ServiceError> {
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
            page.tools.iter().map(tool).for_each(|tool| self.take(tool));
            cursor = page.next_cursor;
            if cursor.is_none() || self.is_full() {
                return Ok(());
            }
        }
        self.odd.push(format!("it lists its tools on more than {MOST_PAGES} pages"));
        Ok(())
    }

    async fn skills(&mut self, peer: &Peer<RoleClient>) -> Result<(), ServiceError> {
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = peer.list_skills(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
            page.skills.into_iter().map(skills::take).for_each(|tool| self.take(tool));
            cursor = page.next_cursor;
            if cursor.is_none() || self.is_full() {
                return Ok(());
            }
        }
        self.odd.push(format!("it lists its skills on more than {MOST_PAGES} pages"));
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.tools.len() > MOST_TOOLS
    }

    /// Takes a tool as it is offered, or why it is not; one more than are taken shows that there are too many.
    fn take(&mut self, tool: Result<Tool, String>) {
        match tool {
            _ if self.is_full() => {}
            Ok(tool) if self.names.insert(tool.name.clone()) => self.tools.push(tool),
            Ok(tool) => self.odd.push(format!("it lists {} twice", tool.name)),
            Err(odd) => self.odd.push(odd),
        }
    }
}
