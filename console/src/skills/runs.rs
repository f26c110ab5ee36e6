//! Finds what a skill would have run: programs and scripts among its files, and commands in the code blocks of its papers.
//!
//! Invariant: looks and runs nothing; files are counted and read up to a bound, and no link is followed.

use house::openat::Folder;
use house::{files, printable};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Files that are looked at, folders within one another, bytes of a paper, and what is named of each kind.
const MOST_FILES: usize = 2_000;
const MOST_DEPTH: usize = 8;
const MOST_BYTES: u64 = 1 << 20;
const MOST_NAMED: usize = 100;
/// Characters of a command.
const COMMAND: usize = 200;

/// Endings of scripts, and what usually runs them.
const ENDINGS: [(&str, &str); 18] = [
    ("sh", "sh"),
    ("bash", "bash"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("py", "python"),
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
    ("ts", "node"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("php", "php"),
    ("lua", "lua"),
    ("r", "Rscript"),
    ("jar", "java"),
    ("ps1", "powershell"),
    ("bat", "cmd"),
    ("exe", "Windows"),
];
/// Languages of code blocks that hold commands for a shell.
const SHELLS: [&str; 8] = ["sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "fish"];
/// Languages of other code blocks that are run.
const LANGUAGES: [&str; 9] = ["python", "py", "javascript", "js", "typescript", "ts", "node", "ruby", "perl"];

/// Files and commands that would be run, and a count of those that are too many to be named.
#[derive(Debug, Default)]
pub struct Runs {
    /// Path within the skill, and what runs it.
    pub files: Vec<(String, String)>,
    /// Paper, and a line for a shell in it.
    pub commands: Vec<(String, String)>,
    /// Paper, and the language of a block in it.
    pub blocks: Vec<(String, String)>,
    pub left_out: usize,
    seen: usize,
}

impl Runs {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.commands.is_empty() && self.blocks.is_empty()
    }

    pub fn as_json(&self) -> Value {
        let pairs = |pairs: &[(String, String)], what: &str| -> Vec<Value> {
            pairs.iter().map(|(path, said)| json!({"path": path, what: said})).collect()
        };
        json!({
            "files": pairs(&self.files, "by"), "commands": pairs(&self.commands, "command"),
            "blocks": pairs(&self.blocks, "language"), "left_out": self.left_out,
        })
    }

    /// Looks through a skill's folder.
    pub fn of(folder: &Path) -> Self {
        let mut runs = Self::default();
        if let Ok(folder) = Folder::open(folder) {
            runs.folder(&folder, "", MOST_DEPTH);
        }
        runs
    }

    fn folder(&mut self, folder: &Folder, path: &str, depth: usize) {
        let mut names: Vec<_> = folder.names().into_iter().flatten().flatten().take(MOST_FILES).collect();
        names.sort();
        for name in names {
            self.seen += 1;
            if self.seen > MOST_FILES {
                self.left_out += 1;
                return;
            }
            let at = folder.at(&name);
            let Ok(found) = std::fs::symlink_metadata(&at) else { continue };
            let path = format!("{path}{}", name.to_string_lossy());
            match (found.is_dir(), folder.inner(&name)) {
                (true, Ok(inner)) if depth > 0 => self.folder(&inner, &format!("{path}/"), depth - 1),
                (true, _) => self.left_out += 1,
                (false, _) if found.is_file() => {
                    self.file(&at, &name, path, found.permissions().mode() & 0o111 != 0)
                }
                (false, _) if found.is_symlink() => {
                    self.put_file(path, "a link, which leads elsewhere".to_owned())
                }
                (false, _) => {}
            }
        }
    }

    fn file(&mut self, at: &Path, name: &OsStr, path: String, may_run: bool) {
        let Some(file) = files::open(at).ok().flatten() else { return };
        let mut bytes = Vec::new();
        if file.take(MOST_BYTES).read_to_end(&mut bytes).is_err() {
            return;
        }
        if let Some(by) = runner(&bytes, name, path.starts_with("scripts/"), may_run) {
            return self.put_file(path, by);
        }
        if Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")) {
            self.paper(&path, &String::from_utf8_lossy(&bytes));
        }
    }

    fn put_file(&mut self, path: String, by: String) {
        put(&mut self.files, &mut self.left_out, (path, by));
    }

    /// Takes the code blocks of a paper.
    pub fn paper(&mut self, path: &str, text: &str) {
        let mut block: Option<(String, String)> = None;
        for event in Parser::new(text) {
            if let Event::Start(Tag::CodeBlock(kind)) = &event {
                let said = if let CodeBlockKind::Fenced(said) = kind { said } else { "" };
                let language = said.split([' ', ',', '{']).next().unwrap_or_default();
                block = Some((language.to_lowercase(), String::new()));
            } else if let Event::Text(text) = &event {
                block.iter_mut().for_each(|(_, held)| held.push_str(text));
            } else if let Event::End(TagEnd::CodeBlock) = event
                && let Some((language, text)) = block.take()
            {
                self.block(path, &language, &text);
            }
        }
    }

    fn block(&mut self, path: &str, language: &str, text: &str) {
        if LANGUAGES.contains(&language) {
            return put(&mut self.blocks, &mut self.left_out, (path.to_owned(), language.to_owned()));
        }
        let is_shell = SHELLS.contains(&language);
        // In a block that shows a session, or that says no language, what is typed stands behind a prompt.
        let has_prompts = text.lines().any(|line| line.trim_start().starts_with("$ "));
        let is_session = language.is_empty() && has_prompts;
        if !(is_shell || is_session) {
            return;
        }
        let mut goes_on = false;
        for line in text.lines().map(str::trim) {
            let typed = line.strip_prefix("$ ");
            let command = if has_prompts { typed.unwrap_or_default() } else { line };
            let is_first = !std::mem::replace(&mut goes_on, line.ends_with('\\'));
            if is_first && !command.is_empty() && !command.starts_with('#') {
                let command = printable::flat(command).chars().take(COMMAND).collect();
                put(&mut self.commands, &mut self.left_out, (path.to_owned(), command));
            }
        }
    }
}

/// Adds what is not named yet, while there is room.
fn put(named: &mut Vec<(String, String)>, left_out: &mut usize, one: (String, String)) {
    if named.contains(&one) {
        return;
    }
    if named.len() < MOST_NAMED { named.push(one) } else { *left_out += 1 }
}

/// Names what runs a file, by its first line, its ending or its rights; none where nothing does.
fn runner(bytes: &[u8], name: &OsStr, is_script: bool, may_run: bool) -> Option<String> {
    if let Some(rest) = bytes.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line: String = String::from_utf8_lossy(line).chars().take(COMMAND).collect();
        return Some(format!("#!{}", printable::flat(line.trim())));
    }
    if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"MZ") {
        return Some("the machine itself: a program".to_owned());
    }
    let ending = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase();
    let known =
        ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, by)| format!("{by}, by its ending"));
    known
        .or_else(|| may_run.then(|| "may be run".to_owned()))
        .or_else(|| is_script.then(|| "lies in scripts/".to_owned()))
}
