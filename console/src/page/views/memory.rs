//! Its kept texts: papers, facts, notes and skills to read and correct, snapshots to read and to say a word about.

use super::papers::{self, Paper, Written};
use super::talk::query;
use super::thought::pre;
use crate::page::acts::{self, Given};
use crate::page::frame::{self, Weight};
use crate::page::{Server, out::Out};
use anyhow::Result;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use house::files;
use http::StatusCode;
use maud::{Markup, html};
use std::sync::Arc;

/// Snapshots that are listed.
const MOST_SNAPSHOTS: usize = 1_000;
/// Heading of each file or folder of papers.
const FOLDERS: [(&str, &str); 3] =
    [("self/facts.md", "What it holds for true"), ("self/notes/", "Notes"), ("self/skills/", "Skills")];

pub async fn page(State(server): State<Arc<Server>>) -> Response {
    let shared = server.clone();
    frame::page(&server, "Memory", "/memory", Weight::Light, move |out| write(&shared, out)).await
}

fn write(server: &Server, out: &mut Out) -> Result<()> {
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

/// A path as part of an address.
fn path(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    let letter = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(letter).collect()
}

fn is_snapshot(name: &str) -> bool {
    name.ends_with(".md") && !name.starts_with('.') && !name.contains('/')
}

/// Offers a word of correction on a text that only the creature may write.
fn correction(name: &str) -> Markup {
    let words = format!("A correction to {name}: ");
    html! { p { "Only it writes this. " a.button href={ "/talk?" (query(&[("words", &words)])) "#words" } { "Say what is wrong with it" } } }
}

pub async fn snapshot(State(server): State<Arc<Server>>, Path(name): Path<String>) -> Response {
    let shared = server.clone();
    let title = format!("Snapshot {}", house::bounds::brief(&name, 80));
    frame::page(&server, &title, "/memory", Weight::Light, move |out| {
        let at = shared.house.snapshots().join(&name);
        let bytes = if is_snapshot(&name) { files::read_most(&at, 4 << 20)? } else { None };
        let Some(bytes) = bytes else {
            out.missing()?;
            return out.html(&html! { p { "There is no such snapshot." } });
        };
        out.html(&html! {
            (pre("The snapshot", &String::from_utf8_lossy(&bytes)))
            (correction(&format!("the snapshot {name}")))
        })
    })
    .await
}

pub async fn paper(State(server): State<Arc<Server>>, Path(name): Path<String>) -> Response {
    let shared = server.clone();
    let title = house::bounds::brief(&name, 120);
    frame::page(&server, &title, "/memory", Weight::Light, move |out| {
        let Some(paper) = papers::read(&shared.house, &name)? else {
            out.missing()?;
            return out.html(&html! { p { "There is no such paper." } });
        };
        if !paper.fits_a_form {
            return out.html(&html! {
                p { "It holds letters that a form would lose: change it with an editor, in " code { (name) } "." }
                (pre("The paper", &paper.text))
            });
        }
        form(&shared, &name, &paper.text, &paper.hash, out)
    })
    .await
}

/// The form that changes a paper; its text is written as it is.
fn form(server: &Server, name: &str, text: &str, hash: &str, out: &mut Out) -> Result<()> {
    out.raw(&filled(server, name, text, hash))
}

fn filled(server: &Server, name: &str, text: &str, hash: &str) -> String {
    let to = format!("/memory/paper/{}", path(name));
    html! {
        p.about { "Both of you write it. Saved, it is as if you had used an editor: it sees that it changed." }
        form.edit method="post" action=(to) {
            input type="hidden" name="act" value=(server.act(&to));
            input type="hidden" name="hash" value=(hash);
            label for="text" { "Its text" }
            textarea #text name="text" rows="24" spellcheck="true" { "\n" (text) }
            button type="submit" { "Save it" }
        }
    }
    .0
}

/// Saves a paper; leaves it as it is where it was changed meanwhile, and shows both texts.
pub async fn save((State(server), uri, Extension(fields)): Given, Path(name): Path<String>) -> Response {
    if let Some(refused) = acts::refusal(&server, uri.path(), &fields) {
        return refused;
    }
    let (hash, text) = (fields.text("hash"), fields.text("text"));
    let written = tokio::task::spawn_blocking({
        let (server, name, text) = (server.clone(), name.clone(), text.clone());
        move || papers::write(&server.house, &name, &hash, &text)
    });
    let (told, there) = match written.await {
        Ok(Ok(Written::Done)) => return frame::see(&format!("/memory/paper/{}", path(&name))),
        Ok(Ok(Written::Other(there))) => {
            ("It was changed meanwhile, and is left as it is now.".to_owned(), there)
        }
        Ok(Ok(Written::Gone)) => {
            let told = "It is gone by now; nothing was written. Your text stands here, to be kept elsewhere.";
            return acts::failed(&name, "/memory", told, &pre("Your text", &text));
        }
        Ok(Err(error)) => {
            return acts::failed(&name, "/memory", &format!("{error:#}"), &pre("Your text", &text));
        }
        Err(error) => return acts::failed(&name, "/memory", &error.to_string(), &pre("Your text", &text)),
    };
    frame::short(StatusCode::CONFLICT, &name, "/memory", &conflict(&server, &name, &text, &told, &there))
}

fn conflict(server: &Server, name: &str, text: &str, told: &str, there: &Paper) -> Markup {
    html! {
        p.wrong role="alert" { (told) }
        h2 { "As it is now" }
        (pre("As it is now", &there.text))
        h2 { "As you wrote it" }
        p { "Take over what you want to keep of the other, then save: yours goes in its place." }
        (frame::made(filled(server, name, text, &there.hash)))
    }
}
