//! Every change it made to its own source: its fate, size, tests, time and cost, and the way back to it.

use crate::diff::titled;
use crate::edits::{self, Edit, Fate};
use crate::life::{Refused, count, usd};
use crate::page::frame::time;
use crate::page::{Server, out::Out};
use crate::report::gather::{self, SETTLED_LATER_MS};
use anyhow::Result;
use house::bounds::short;
use house::clock::Millis;
use house::{clock, moments, records};
use maud::{Markup, html};
use repo::Repo;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Rows of a page.
const MOST_ROWS: usize = 40;

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    skip: usize,
}

/// A version, or an edit that was refused before it became one.
enum Row {
    Version(Box<Edit>),
    Refused(Refused),
}

impl Row {
    fn at_ms(&self) -> Millis {
        match self {
            Row::Version(edit) => moments::ms(&edit.at).unwrap_or(0),
            Row::Refused(refused) => refused.at_ms,
        }
    }
}

pub fn write(server: &Server, asked: &Asked, out: &mut Out) -> Result<()> {
    let skip = asked.skip;
    let house = &server.house;
    let repo = Repo::open(house)?;
    let head = repo.head()?;
    let tree_of = |commit: &str| repo.resolve(commit).ok().map(|version| version.tree.to_string());
    let versions = edits::list(records::of(&house.history()), tree_of);
    // Versions to go back to, by what they hold.
    let rungs: BTreeMap<String, u64> =
        repo.rungs()?.iter().map(|rung| (rung.version.tree.to_string(), rung.number())).collect();
    let looked = server.past.look();
    let refused = server.past.with(|life| life.refused_edits());
    let counts = counted(&versions, refused.len(), &head.tree.to_string());
    let mut rows: Vec<Row> = versions
        .into_iter()
        .map(|edit| Row::Version(Box::new(edit)))
        .chain(refused.into_iter().map(Row::Refused))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.at_ms()));
    let all = rows.len();
    let seen = Seen { server, repo: &repo, head: head.tree.to_string(), rungs };
    out.html(&html! {
        p.headline { (counts) }
        @if looked.more { p.about role="status" { "The past is still being read: refused edits and costs may be missing." } }
        p.about { "Every version it was, newest first. One that lived, thought and passed its tests has proved itself: it is kept to go back to. Going back makes a new commit; nothing is lost." }
    })?;
    if all == 0 {
        return out.html(&html! { p.none { "It has changed nothing in itself so far." } });
    }
    out.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Self-edits\"><table class=\"dense edits\">")?;
    out.html(&html! { thead { tr {
        th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "What became of it" } th.number scope="col" { "Lines" }
        th scope="col" { "Tests" } th.number scope="col" { "Proved in" } th.number scope="col" title="paid in the wake it was made in, until then" { "Cost" } th scope="col" { "Back" }
    } } })?;
    out.raw("<tbody>")?;
    for row in rows.iter().skip(skip).take(MOST_ROWS) {
        out.html(&match row {
            Row::Version(edit) => seen.version(edit),
            Row::Refused(refused) => seen.refused(refused),
        })?;
    }
    out.raw("</tbody></table></div>")?;
    out.html(&html! {
        @if skip + MOST_ROWS < all { p { a.button href={ "/edits?skip=" (skip + MOST_ROWS) } { "Earlier ones" } } }
        p { a href="/life" { "All lives as a picture" } }
    })
}

/// Counts of each fate, in words.
fn counted(versions: &[Edit], refused: usize, head_tree: &str) -> String {
    let of = |fates: &[Fate]| versions.iter().filter(|edit| fates.contains(&edit.fate(head_tree))).count();
    let rare = [
        (of(&[Fate::Fell]), "fell"),
        (of(&[Fate::RolledBack]), "rolled back by you"),
        (refused, "refused before they ran"),
    ];
    let rare =
        rare.into_iter().filter(|(count, _)| *count > 0).map(|(count, told)| format!("{count} {told}"));
    let proved = format!("{} proved", of(&[Fate::Runs, Fate::Proved]));
    [count(versions.len() as u64, "version"), proved].into_iter().chain(rare).collect::<Vec<_>>().join(", ")
}

/// Facts from which rows are written.
struct Seen<'a> {
    server: &'a Server,
    repo: &'a Repo,
    head: String,
    rungs: BTreeMap<String, u64>,
}

impl Seen<'_> {
    fn version(&self, edit: &Edit) -> Markup {
        let fate = edit.fate(&self.head);
        let summary = match edit.summary.as_str() {
            "" => self.repo.find(&edit.commit).map(|commit| titled(&commit)).unwrap_or_default(),
            summary => summary.to_owned(),
        };
        // A commit's title begins with its name, which stands before it already.
        let summary = summary.strip_prefix(short(&edit.commit)).unwrap_or(&summary).trim().to_owned();
        let (born, proved) = (moments::ms(&edit.at), moments::ms(&edit.proved_at));
        let took = born.zip(proved).map(|(born, proved)| Duration::from_millis(proved.saturating_sub(born)));
        let number = self.rungs.get(&edit.tree);
        html! { tr {
            td.at { (time(&edit.at)) }
            th scope="row" {
                a href={ "/commit/" (edit.commit) } { @if summary.is_empty() { (short(&edit.commit)) } @else { (summary) } }
                @if edit.by != "self" { span.about { " not its own" } }
            }
            td {
                span.chip.(fate.class()) { (fate.told()) }
                @if let Some(fell) = edit.fallen() { " " span.about { (fell.told) } }
                @if let Some((first, last)) = edit.lives {
                    " " span.about { a href={ "/lives/" (first) } { "life " (first) } @if last > first { " to " a href={ "/lives/" (last) } { (last) } } }
                }
            }
            td.number { @if edit.files > 0 { "+" (edit.added) " −" (edit.removed) } }
            td { (edit.tests) @if let Some(seconds) = edit.tests_s { " " span.about { (format!("{seconds:.0}")) " s" } } }
            td.number { @if let Some(took) = took { (moments::span(took)) } }
            td.number { (self.cost(born)) }
            td.back { @if edit.tree != self.head {
                a href={ "/ladder/" (edit.commit) } { "Go back here" span.hidden { ": version " (short(&edit.commit)) } }
            } @if let Some(number) = number { span.about { " no. " (number) } } }
        } }
    }

    fn refused(&self, refused: &Refused) -> Markup {
        html! { tr.refused {
            td.at { (time(&clock::stamp_of(refused.at_ms))) }
            th scope="row" { a href=(refused.href) { @if refused.summary.is_empty() { "an edit without a name" } @else { (refused.summary) } } }
            td { span.chip.yellow { "refused" } " " span.about { "at " (refused.stage) ", before it ran" } }
            td.number {} td { @if refused.stage == "test" { "failed" } } td.number {}
            td.number { (self.cost(Some(refused.at_ms))) } td {}
        } }
    }

    /// Returns the cost of the wake that made it, until it was made.
    fn cost(&self, at_ms: Option<Millis>) -> String {
        let begun = at_ms.and_then(|at_ms| {
            self.server.past.with(|life| life.woke_for(at_ms)).map(|begun_ms| (begun_ms, at_ms))
        });
        let Some((begun_ms, at_ms)) = begun else { return String::new() };
        let until = clock::stamp_of(at_ms.saturating_add(SETTLED_LATER_MS));
        let micro = gather::paid(&self.server.house, &clock::stamp_of(begun_ms), &until).micro;
        if micro == 0 { String::new() } else { usd(micro) }
    }
}
