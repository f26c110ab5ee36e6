//! Its kept texts: papers, facts, notes and skills to read and correct, snapshots to read and to say a word about.

use super::papers::{self, Paper, Written};
use super::talk::query;
use super::thought::pre;
use crate::life::export::secrets::in_address as path;
use crate::page::Server;
use crate::page::acts::{self, Given};
use crate::page::form::hidden;
use crate::page::frame::{self, Weight};
use crate::page::out::{Out, missing};
use anyhow::{Result, anyhow};
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use house::files;
use maud::{Markup, html};
use std::sync::Arc;

/// Snapshots that are listed.
const MOST_SNAPSHOTS: usize = 1_000;
/// Heading of each file or folder of papers.
const FOLDERS: [(&str, &str); 3] =
    [("self/facts.md", "What it holds for true"), ("self/notes/", "Notes"), ("self/skills/", "Skills")];

pub fn write(server: &Server, out: &mut Out) -> Result<()> {
    let papers = papers::list(&server.house);
    let is_of = |path: &str, folder: &str| path.starts_with(folder);
    let others: Vec<&String> =
        papers.iter().filter(|path| !FOLDERS.iter().any(|(folder, _)| is_of(path, folder))).collect();
    out.html(&html! {
        @for (folder, told) in FOLDERS {
            h2 { (told) }
            (links(&papers.iter().filter(|path| is_of(path, folder)).collect::<Vec<_>>()))
        }
        h2 { "Purpose, checklist, diary and other papers" }
        (links(&others))
        h2 { "Snapshots" }
        p.about { "Summaries that it makes of its memory; nobody changes them afterwards." }
    })?;
    let entries = std::fs::read_dir(server.house.snapshots()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_snapshot(name)).collect();
    names.sort();
    out.html(&html! {
        @if names.is_empty() { p.none { "None so far." } }
        ul.links { @for name in names.iter().rev().take(MOST_SNAPSHOTS) { li { a href={ "/memory/snapshot/" (path(name)) } { (name) } } } }
        h2 { "Everything it remembers" }
        p { a href="/search" { "Search back to the first record" } ", or look at " a href="/talk" { "what was said" } "." }
    })
}

fn links(papers: &[&String]) -> Markup {
    html! {
        @if papers.is_empty() { p.none { "None so far." } }
        ul.links { @for paper in papers { li { a href={ "/memory/paper/" (path(paper)) } { (paper) } } } }
    }
}

fn is_snapshot(name: &str) -> bool {
    name.ends_with(".md") && !name.starts_with('.') && !name.contains('/')
}

/// Offers a word of correction on a text that only the creature may write.
fn correction(name: &str) -> Markup {
    let words = format!("A correction to {name}: ");
    html! { p { "Only it writes this. " a.button href={ "/talk?" (query(&[("words", &words)])) "#words" } { "Say what is wrong with it" } } }
}

pub async fn snapshot(Extension(server): Extension<Arc<Server>>, Path(name): Path<String>) -> Response {
    let title = format!("Snapshot {}", house::bounds::brief(&name, 80));
    frame::page(server, &title, "/memory", Weight::Light, move |server, out| {
        let at = server.house.snapshots().join(&name);
        let bytes = if is_snapshot(&name) { files::read_most(&at, 4 << 20)? } else { None };
        let bytes = bytes.ok_or_else(|| missing("There is no such snapshot."))?;
        out.html(&html! {
            (pre("The snapshot", &String::from_utf8_lossy(&bytes)))
            (correction(&format!("the snapshot {name}")))
        })
    })
    .await
}

pub async fn paper(Extension(server): Extension<Arc<Server>>, Path(name): Path<String>) -> Response {
    let title = house::bounds::brief(&name, 120);
    frame::page(server, &title, "/memory", Weight::Light, move |server, out| {
        let paper = papers::read(&server.house, &name)?.ok_or_else(|| missing("There is no such paper."))?;
        if !paper.fits_a_form {
            return out.html(&html! {
                p { "It holds letters that a form would lose: change it with an editor, in " code { (name) } "." }
                (pre("The paper", &paper.text))
            });
        }
        // Its text is written as it is.
        out.raw(&form(server, &name, &paper.text, &paper.hash).0)
    })
    .await
}

/// The form that changes a paper.
fn form(server: &Server, name: &str, text: &str, hash: &str) -> Markup {
    let to = format!("/memory/paper/{}", path(name));
    html! {
        p.about { "Both of you write it. Saved, it is as if you had used an editor: it sees that it changed." }
        form.edit method="post" action=(to) {
            (hidden(server, &to, &[("hash", hash)]))
            label for="text" { "Its text" }
            textarea #text name="text" rows="24" spellcheck="true" { "\n" (text) }
            button type="submit" { "Save it" }
        }
    }
}

/// Saves a paper; leaves it as it is where it was changed meanwhile, and shows both texts.
pub async fn save((Extension(server), Extension(fields)): Given, Path(name): Path<String>) -> Response {
    let (paper, text) = (name.clone(), fields.text("text"));
    let written = acts::beside(&server, move |server| {
        papers::write(&server.house, &paper, &fields.text("hash"), &fields.text("text"))
    });
    let (error, more) = match written.await {
        Ok(Written::Done) => return frame::see(&format!("/memory/paper/{}", path(&name))),
        Ok(Written::Other(there)) => {
            let told = anyhow!("It was changed meanwhile, and is left as it is now.");
            (told, conflict(&server, &name, &text, &there))
        }
        Ok(Written::Gone) => {
            let told = "It is gone by now; nothing was written. Your text stands here, to be kept elsewhere.";
            (anyhow!(told), pre("Your text", &text))
        }
        Err(error) => (error, pre("Your text", &text)),
    };
    acts::failed(&name, "/memory", &error, &more)
}

fn conflict(server: &Server, name: &str, text: &str, there: &Paper) -> Markup {
    html! {
        h2 { "As it is now" }
        (pre("As it is now", &there.text))
        h2 { "As you wrote it" }
        p { "Take over what you want to keep of the other, then save: yours goes in its place." }
        (form(server, name, text, &there.hash))
    }
}
