//! The mailbox's folders, by name and by what the server says they are for (RFC 6154); and where a message lies.

use crate::names;
use crate::session::{Open, told};
use crate::text::line;
use async_imap::types::{Mailbox, NameAttribute};
use futures_util::TryStreamExt;
use std::fmt;

/// Most folders that are looked at.
const MOST: usize = 2_000;
/// Most folders named in an answer.
const MOST_TOLD: usize = 40;

/// Use of a folder, with the names it has where the server does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Drafts,
    Sent,
    All,
}

impl Use {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Drafts => &["Drafts", "INBOX.Drafts", "Draft"],
            Self::Sent => &["Sent", "INBOX.Sent", "Sent Items", "Sent Mail", "Sent Messages"],
            Self::All => &["All Mail", "Archive"],
        }
    }

    fn is(self, attribute: &NameAttribute<'_>) -> bool {
        match self {
            Self::Drafts => matches!(attribute, NameAttribute::Drafts),
            Self::Sent => matches!(attribute, NameAttribute::Sent),
            Self::All => matches!(attribute, NameAttribute::All),
        }
    }
}

/// A folder: as people read it, and as the server writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Folder {
    pub name: String,
    pub written: String,
    uses: Vec<Use>,
}

pub struct Folders(Vec<Folder>);

impl Folders {
    pub async fn list(open: &mut Open) -> Result<Self, String> {
        let listed = open.imap.list(Some(""), Some("*")).await.map_err(|error| told(&error))?;
        let mut listed = std::pin::pin!(listed);
        let mut found = Vec::new();
        while let Some(name) = listed.try_next().await.map_err(|error| told(&error))? {
            let can_hold = !name.attributes().contains(&NameAttribute::NoSelect);
            if can_hold && found.len() < MOST {
                let uses = [Use::Drafts, Use::Sent, Use::All].into_iter();
                let is_for = |of: &Use| name.attributes().iter().any(|attribute| of.is(attribute));
                found.push(Folder {
                    name: names::read(name.name()),
                    written: name.name().to_owned(),
                    uses: uses.filter(is_for).collect(),
                });
            }
        }
        Ok(Self(found))
    }

    /// The folder of that name, in any letter case, or which there are.
    pub fn named(&self, name: &str) -> Result<&Folder, String> {
        let same = |folder: &&Folder| folder.name == name || folder.written == name;
        let alike = |folder: &&Folder| folder.name.eq_ignore_ascii_case(name);
        self.0.iter().find(same).or_else(|| self.0.iter().find(alike)).ok_or_else(|| {
            let names: Vec<String> =
                self.0.iter().take(MOST_TOLD).map(|folder| line(&folder.name, 80)).collect();
            let more = self.0.len().saturating_sub(MOST_TOLD);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("there is no folder {:?}; there are {}{more}", line(name, 80), names.join(", "))
        })
    }

    /// The folder that the server keeps for this, else one that is called so.
    pub fn used_as(&self, what: Use) -> Option<&Folder> {
        let called = |name: &&&str| self.0.iter().find(|folder| folder.name.eq_ignore_ascii_case(name));
        let marked = self.0.iter().find(|folder| folder.uses.contains(&what));
        marked.or_else(|| what.names().iter().find_map(|name| called(&name)))
    }
}

/// A message's place: its folder, that folder's validity and its number there (RFC 9051, 2.3.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub folder: String,
    pub validity: u32,
    pub uid: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}:{}", self.folder, self.validity, self.uid)
    }
}

impl Place {
    pub fn read(text: &str) -> Result<Self, String> {
        let mut parts = text.trim().rsplitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        let (uid, validity) = (number(), number());
        match (parts.next().filter(|folder| !folder.is_empty()), validity, uid) {
            (Some(folder), Some(validity), Some(uid)) => {
                Ok(Self { folder: folder.to_owned(), validity, uid })
            }
            _ => Err(format!(
                "{:?} names no message; take the id that search gives, like INBOX:1:5",
                line(text, 80)
            )),
        }
    }

    /// Selects its folder, to look or to change, and checks that its numbers still count.
    pub async fn select(&self, open: &mut Open, folders: &Folders, changes: bool) -> Result<(), String> {
        let chosen = select(open, folders.named(&self.folder)?, changes).await?;
        if chosen.uid_validity != Some(self.validity) {
            return Err(format!("the folder {} was made anew since: search again", self.folder));
        }
        Ok(())
    }
}

/// Selects a folder, to look or to change.
pub async fn select(open: &mut Open, folder: &Folder, changes: bool) -> Result<Mailbox, String> {
    let chosen = match changes {
        true => open.imap.select(&folder.written).await,
        false => open.imap.examine(&folder.written).await,
    };
    chosen.map_err(|error| told(&error))
}
