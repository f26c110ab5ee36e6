//! Patches as models, mails and other tools write them, one file a case: made of them is what is meant, or nothing.

use crate::yard::Yard;
use patch::change;
use patch::plan::{self, Roots};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What stands beside a patch.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// Files before it.
    #[serde(default)]
    before: BTreeMap<String, String>,
    /// All files after it.
    after: Option<BTreeMap<String, String>>,
    /// What the refusal says, where it is refused; then the files stay as they are.
    refused: Option<Vec<String>>,
    /// Which of `patch`, `before` and `after` have `\r\n` at the ends of their lines.
    #[serde(default)]
    crlf: Vec<String>,
}

impl Case {
    fn ends(&self, of: &str, text: &str) -> String {
        let crlf = self.crlf.iter().any(|part| part == of);
        if crlf { text.replace('\n', "\r\n") } else { text.to_owned() }
    }

    /// What came of the patch, as files below `creature/` and words.
    fn run(&self, patch: &str) -> (BTreeMap<String, String>, String) {
        let yard = Yard::new();
        yard.put("creature/kept.txt", "kept\n");
        self.before.iter().for_each(|(path, text)| yard.put(path, &self.ends("before", text)));
        let roots = Roots { source: yard.root(), papers: yard.root() };
        let said = match plan::from_patch(&roots, &self.ends("patch", patch)) {
            Err(failed) => format!("{}; {}", failed.fault.error, failed.fault.hint),
            Ok(plan) => {
                let refusal = plan.refusal();
                change::write(yard.root(), plan.changes).unwrap().keep();
                refusal.map_or(String::new(), |it| format!("{}; {}", it.fault.error, it.fault.hint))
            }
        };
        let name = |path: PathBuf| path.strip_prefix(yard.root()).unwrap().to_str().unwrap().to_owned();
        let files = yard.files().into_iter().filter(|(path, _)| path.is_file() && path.is_absolute());
        let files = files.map(|(path, bytes)| (name(path), String::from_utf8(bytes).unwrap()));
        (files.filter(|(path, _)| path != "creature/kept.txt").collect(), said)
    }

    /// Why the case does not come out right.
    fn wrong(&self, patch: &str) -> Option<String> {
        let (files, said) = self.run(patch);
        let all = |of: &str, files: &BTreeMap<String, String>| -> BTreeMap<String, String> {
            files.iter().map(|(path, text)| (path.clone(), self.ends(of, text))).collect()
        };
        let (meant, words) = match (&self.after, &self.refused) {
            (Some(after), None) => (all("after", after), &Vec::new()),
            (None, Some(words)) if !words.is_empty() => (all("before", &self.before), words),
            _ => return Some("its right outcome is missing: `[after]` or `refused`".to_owned()),
        };
        let missing = words.iter().find(|word| !said.contains(word.as_str()));
        match missing {
            _ if files != meant => Some(format!("made {files:?}\nmeant {meant:?}\nsaid {said}")),
            Some(word) => Some(format!("said nothing of {word}: {said}")),
            None if words.is_empty() && !said.is_empty() => Some(format!("refused: {said}")),
            None => None,
        }
    }
}

#[test]
fn every_patch_of_the_corpus_is_applied_as_meant_or_refused_with_the_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/patches");
    let (mut cases, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ends| ends == "toml") {
            assert!(path.with_extension("patch").exists(), "{} has no patch", path.display());
            continue;
        }
        let right = std::fs::read_to_string(path.with_extension("toml"));
        let right = right.unwrap_or_else(|_| panic!("{} has no right outcome beside it", path.display()));
        let case: Case = toml::from_str(&right).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()));
        cases += 1;
        let why = case.wrong(&std::fs::read_to_string(&path).unwrap());
        wrong.extend(why.map(|why| format!("{}: {why}", path.file_name().unwrap().display())));
    }
    assert!(cases >= 60, "only {cases} cases in {}", folder.display());
    assert!(wrong.is_empty(), "{} of {cases} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}
