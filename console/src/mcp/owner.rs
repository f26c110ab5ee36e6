//! `owner.toml` with a section more or less: shown and judged before it is written, written whole, the one before it kept.
//!
//! Invariant: nothing of it is written that guardian and broker would not take, nor over what somebody else wrote meanwhile.

use anyhow::{Context, Result, bail};
use house::files::{self, Replaced};
use house::settings::{self, Reader, Settings, forms};
use house::{House, terminal};
use processes::made::beside;
use processes::trusted;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use toml_edit::{DocumentMut, Item, Table};

/// Longest time in which the broker judges a file.
const JUDGED_S: u64 = 30;

/// The owner's file as it is.
pub struct Owner {
    path: PathBuf,
    /// None where there is no file yet.
    before: Option<String>,
    /// Text that lines are put behind: the file's, or what of it stays.
    base: String,
    pub settings: Settings,
}

impl Owner {
    /// Reads it; one with a mistake is an error that says where, for nothing is added to that.
    pub fn read(house: &House) -> Result<Self> {
        let path = house.owner_settings();
        let bytes = files::read_small(&path)?;
        let before = bytes.map(String::from_utf8).transpose();
        let before = before.with_context(|| format!("{} is not UTF-8 text", path.display()))?;
        let settings =
            settings::whole(house).context("nothing was written, for it has a mistake to mend first")?;
        Ok(Self { path, base: before.clone().unwrap_or_default(), before, settings })
    }

    /// The same where lines take the place of those of a server.
    pub fn in_place_of(self, name: &str) -> Result<Self> {
        Ok(Self { base: self.without("mcp", name)?, ..self })
    }

    /// The file with these lines behind all others.
    pub fn with(&self, lines: &str) -> String {
        let text = self.base.as_str();
        let gap = match text {
            "" => "",
            text if text.ends_with("\n\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        format!("{text}{gap}{lines}")
    }

    /// The file without a section, like `[mcp.files]`, and all below it.
    pub fn without(&self, kind: &str, name: &str) -> Result<String> {
        without(&self.base, kind, name)
    }

    /// Judges a text as guardian and broker do before they take it up.
    pub fn judge(&self, house: &House, text: &str) -> Result<()> {
        let wrong = |why: String| {
            anyhow::anyhow!("nothing was written: {} would not be taken: {why}", self.path.display())
        };
        settings::read(text, Reader::Guardian, forms::check)
            .map_err(|mistakes| wrong(mistakes.to_string()))?;
        let Some(program) = beside("broker").filter(|program| program.is_file()) else { return Ok(()) };
        let root = house.root().display().to_string();
        let args = ["--house", &root, "--check", "--piped"];
        let output = trusted::answered(&program, &args, text, JUDGED_S, |_| {})?;
        match output.filter(|output| output.status.code() == Some(2)) {
            Some(output) => Err(wrong(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
            None => Ok(()),
        }
    }

    /// Writes a text in place of the file as it was read.
    pub fn write(&self, house: &House, text: &str) -> Result<()> {
        self.judge(house, text)?;
        let Some(before) = &self.before else {
            if files::mark_of_any(&self.path).is_some() {
                bail!("{} was made meanwhile, and is left as it is: try again", self.path.display());
            }
            files::replace(&self.path, text.as_bytes())?;
            terminal::field("written", &format!("{}, which was not there", self.path.display()));
            return Ok(());
        };
        let kept = house.owner_before();
        files::replace_secret(&kept, before.as_bytes())?;
        let is_same = |there: &[u8]| there == before.as_bytes();
        match files::replace_expected(&self.path, is_same, text.as_bytes())? {
            Replaced::Done => {}
            Replaced::Other(_) => {
                bail!("{} was changed meanwhile, and is left as it is: try again", self.path.display())
            }
            Replaced::Gone => bail!("{} is gone, and is not made anew: try again", self.path.display()),
        }
        terminal::field("written", &format!("{}; as it was before: {}", self.path.display(), kept.display()));
        Ok(())
    }
}

/// Shows the lines, and writes them where the owner says yes.
pub fn decide(house: &House, owner: &Owner, lines: &str, note: &str, is_yes: bool) -> Result<u8> {
    let text = owner.with(lines);
    owner.judge(house, &text)?;
    if !note.is_empty() {
        terminal::field("note", note);
    }
    terminal::line("These lines go to the end of owner.toml:");
    terminal::line("");
    lines.lines().for_each(|line| terminal::line(&format!("    {line}")));
    terminal::line("");
    if !is_yes && !says_yes("Write them? (yes or no)") {
        terminal::line("Nothing was written.");
        return Ok(1);
    }
    owner.write(house, &text)?;
    terminal::line("A guardian that runs takes it up by itself within a few seconds.");
    Ok(0)
}

/// Asks the owner; where there is no terminal the answer is no, and how to say yes is said.
pub fn says_yes(question: &str) -> bool {
    if !std::io::stdin().is_terminal() || !terminal::is_one() {
        terminal::line("No terminal to ask at: the same with --yes writes them.");
        return false;
    }
    terminal::line(question);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// A text of settings without a section, like `[mcp.files]`, and all below it. The comment right above it goes with it;
/// one that an empty line parts from it stays.
pub fn without(text: &str, kind: &str, name: &str) -> Result<String> {
    let is_of_dos = text.contains("\r\n");
    let mut file: DocumentMut = text.replace("\r\n", "\n").parse()?;
    let all = file.get_mut(kind).and_then(Item::as_table_like_mut);
    let taken = all.and_then(|all| all.remove(name));
    let taken = taken.with_context(|| format!("{name} is not in it"))?;
    if let Some(table) = taken.as_table() {
        give_back(&mut file, others(table), table.position());
    }
    let text = file.to_string();
    Ok(if is_of_dos { text.replace('\n', "\r\n") } else { text })
}

/// Comments above a table that are none of its own: all up to the last empty line.
fn others(table: &Table) -> &str {
    let above = table.decor().prefix().and_then(|above| above.as_str()).unwrap_or_default();
    above
        .rfind("\n\n")
        .and_then(|end| above.get(..=end))
        .filter(|others| !others.trim().is_empty())
        .unwrap_or_default()
}

/// Puts comments above the table that followed, or at the end.
fn give_back(file: &mut DocumentMut, comments: &str, position: Option<isize>) {
    if comments.is_empty() {
        return;
    }
    let mut positions = Vec::new();
    each(file.as_table_mut(), &mut |table| positions.extend(table.position()));
    let next = positions.into_iter().filter(|at| Some(*at) > position).min();
    if next.is_none() {
        let own = file.trailing().as_str().unwrap_or_default().to_owned();
        file.set_trailing(format!("{comments}{own}"));
    }
    each(file.as_table_mut(), &mut |table| {
        if next.is_some() && table.position() == next {
            let own = table.decor().prefix().and_then(|own| own.as_str()).unwrap_or_default().to_owned();
            table.decor_mut().set_prefix(format!("{comments}{own}"));
        }
    });
}

/// Shows each table with a header of its own, below this one.
fn each(table: &mut Table, show: &mut impl FnMut(&mut Table)) {
    let mut one = |table: &mut Table| {
        show(table);
        each(table, show);
    };
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => one(table),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(&mut one),
            Item::None | Item::Value(_) => {}
        }
    }
}
