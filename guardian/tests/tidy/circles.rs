//! Circles of files: which files of a crate use one another by `use` and by paths, directly or by way of others.

use crate::none;
use crate::sources::{is_lived_in, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Most files that may use one another in a circle.
const MOST: usize = 3;
/// A file's module, from its crate's root: `life::rest`.
type Module = Vec<String>;
/// Which files each file uses.
pub type Uses = BTreeMap<String, BTreeSet<String>>;

/// The files of a crate's `src`, by module; what each names and what each passes on under another path.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Module, String>,
    named: BTreeMap<Module, Vec<Module>>,
    passed_on: BTreeMap<Module, Vec<Module>>,
}

impl Crate {
    /// The module that a path leads to, by way of what others pass on.
    fn leads_to(&self, path: &[String], depth: usize) -> Option<Module> {
        let at = (0..=path.len()).rev().find(|at| self.files.contains_key(&path[..*at]))?;
        let passed = self.passed_on.get(&path[..at]).into_iter().flatten();
        let mut to = passed.filter(|to| path.get(at).is_some_and(|name| to.last() == Some(name)));
        match to.next().filter(|_| depth > 0) {
            Some(to) => self.leads_to(to, depth - 1),
            None => Some(path[..at].to_vec()),
        }
    }

    /// Which files each uses; a file that only passes on what its folder holds does not use it.
    fn uses(&self) -> Uses {
        let of = |(module, named): (&Module, &Vec<Module>)| {
            let to = named.iter().filter_map(|path| self.leads_to(path, 4));
            let to = to.filter_map(|to| self.files.get(&to)).cloned();
            let file = self.files[module].clone();
            let to = to.filter(|to| *to != file).collect();
            (file, to)
        };
        self.named.iter().map(of).collect()
    }
}

/// The module of a file below `src`.
fn module(path: &str) -> Module {
    let name = path.trim_end_matches(".rs");
    let parts = name.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "main"));
    parts.map(str::to_owned).collect()
}

/// The code of a file: without comments, and without what stands in strings.
fn code(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The paths of a `use`, its braces opened; names behind `as` are left out.
fn opened(tree: &str, before: &[String], into: &mut Vec<Module>) {
    let tree = tree.trim();
    let (path, rest) = tree.split_once('{').map_or((tree, None), |(path, rest)| (path, Some(rest)));
    let path = path.split(" as ").next().unwrap_or_default();
    let parts = path.split("::").map(str::trim).filter(|part| !part.is_empty() && *part != "*");
    let path: Module = before.iter().cloned().chain(parts.map(str::to_owned)).collect();
    let Some(rest) = rest else { return into.push(path) };
    let (mut depth, mut part) = (0, String::new());
    for letter in rest.chars() {
        match letter {
            '}' if depth == 0 => break,
            ',' if depth == 0 => opened(&std::mem::take(&mut part), &path, into),
            _ => {
                depth += i32::from(letter == '{') - i32::from(letter == '}');
                part.push(letter);
            }
        }
    }
    if !part.trim().is_empty() {
        opened(&part, &path, into);
    }
}

/// A path as it stands in a file, from its crate's root; none for a path of another crate.
fn from_root(path: &[String], here: &Module, is_module: impl Fn(&[String]) -> bool) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([here, rest].concat()),
        "super" => {
            let (ups, rest) = path.split_at(path.iter().take_while(|part| *part == "super").count());
            Some([here.get(..here.len().checked_sub(ups.len())?)?, rest].concat())
        }
        first => {
            let inner = [here.as_slice(), &[first.to_owned()]].concat();
            is_module(&inner).then(|| [inner.as_slice(), rest].concat())
        }
    }
}

fn read(files: &BTreeMap<Module, (String, String)>) -> Crate {
    let mut all = Crate::default();
    all.files.extend(files.iter().map(|(module, (path, _))| (module.clone(), path.clone())));
    for (here, (_, text)) in files {
        let text = code(text);
        let (mut named, mut passed_on) = (Vec::new(), Vec::new());
        for (at, _) in text.match_indices("use ") {
            let before = text[..at].rsplit('\n').next().unwrap_or_default();
            let is_use = matches!(before.trim(), "" | "pub" | "pub(crate)" | "pub(super)" | "pub(in crate)");
            let Some(tree) = text[at + 4..].split(';').next().filter(|_| is_use) else { continue };
            let into = if before.contains("pub") { &mut passed_on } else { &mut named };
            // Within a module that stands in the file itself, the file is what is above.
            let tree = match tree.strip_prefix("super::").filter(|_| before.starts_with(' ')) {
                Some(of_file) => format!("self::{of_file}"),
                None => tree.to_owned(),
            };
            opened(&tree, &[], into);
        }
        // Paths within the code: from where one begins to where it ends.
        for start in ["crate::", "super::"] {
            let path = |at: usize| {
                text[at..].split(|letter: char| !(letter.is_alphanumeric() || "_:".contains(letter))).next()
            };
            let is_whole = |at: usize| {
                !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || ":_$".contains(letter))
            };
            let paths = text.match_indices(start).filter(|(at, _)| is_whole(*at));
            // One that ends in `::` has its names in braces, and was read as a `use`.
            let paths = paths.filter_map(|(at, _)| path(at)).filter(|path| !path.ends_with(':'));
            named.extend(paths.map(|path| path.split("::").map(str::to_owned).collect::<Module>()));
        }
        let is_module = |path: &[String]| all.files.contains_key(path);
        let rooted = |paths: Vec<Module>| {
            paths.iter().filter_map(|path| from_root(path, here, is_module)).collect::<Vec<_>>()
        };
        let (named, passed_on) = (rooted(named), rooted(passed_on));
        let named = named.into_iter().filter(|path| !passed_on.contains(path)).collect();
        all.named.insert(here.clone(), named);
        all.passed_on.insert(here.clone(), passed_on);
    }
    all
}

/// Every file that a file reaches.
fn reached<'f>(from: &'f String, uses: &'f Uses) -> BTreeSet<&'f String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        open.extend(uses.get(file).into_iter().flatten().filter(|to| found.insert(*to)));
    }
    found
}

/// The circles of more than `MOST` files, largest first.
fn circles(uses: &Uses) -> Vec<Vec<String>> {
    let reaches: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|file| (file, reached(file, uses))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (file, to) in &reaches {
        let back = |other: &&&String| reaches.get(**other).is_some_and(|to| to.contains(file));
        let circle: Vec<String> = to.iter().filter(back).copied().cloned().collect();
        if circle.len() > MOST {
            found.insert(circle);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    found
}

/// Which files of its crate each file uses, in the whole house; the creature's while it has not rewritten itself.
pub fn imports() -> Uses {
    let mut crates: BTreeMap<String, BTreeMap<Module, (String, String)>> = BTreeMap::new();
    let is_lived_in = is_lived_in();
    for source in sources().into_iter().filter(|source| source.is_production()) {
        let Some((folder, path)) = source.path.split_once("src/") else { continue };
        if !(folder.starts_with("creature/") && is_lived_in) {
            let files = crates.entry(folder.to_owned()).or_default();
            files.insert(module(path), (source.path.clone(), source.text.clone()));
        }
    }
    crates.values().flat_map(|files| read(files).uses()).collect()
}

#[test]
fn no_more_than_three_files_use_one_another_in_a_circle() {
    let mut bad = Vec::new();
    let uses = imports();
    for circle in circles(&uses) {
        let of = |file: &String| {
            let to = uses[file].iter().filter(|to| circle.contains(to));
            format!("\n  {file} uses {}", to.cloned().collect::<Vec<_>>().join(", "))
        };
        let arrows: String = circle.iter().map(of).collect();
        bad.push(format!("{} files use one another in a circle, {MOST} are the most:{arrows}", circle.len()));
    }
    none(bad);
}

#[test]
fn a_circle_is_found_by_way_of_what_others_pass_on() {
    let file = |path: &str, text: &str| (module(path), (path.to_owned(), text.to_owned()));
    let files = [
        file("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\npub use b::Bee;\n"),
        file("a.rs", "use crate::Bee;\n// use crate::d::Dee;\n"),
        file("b/mod.rs", "use super::{\n    c::{self, See},\n};\npub struct Bee;\n"),
        file("c.rs", "fn f() { crate::d::dee() }\n"),
        file("d.rs", "use super::a as aye;\n"),
    ];
    let all = read(&files.into());
    assert_eq!(circles(&all.uses()), [["a.rs", "b/mod.rs", "c.rs", "d.rs"]]);
    let text = "use crate::d::Dee as Dee2;\nlet path = \"crate::a\";\n";
    let all = read(
        &[file("a.rs", text), file("d.rs", "use crate::a::A;\n"), file("e.rs", "use crate::a;\n")].into(),
    );
    assert_eq!(circles(&all.uses()), Vec::<Vec<String>>::new(), "two files are no circle of more than three");
    assert_eq!(all.uses()["a.rs"], ["d.rs".to_owned()].into());
}
