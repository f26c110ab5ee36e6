//! Tests of a tree: each that fails is tried once more, and told with what is known of it without the change.

use super::cargo::{self, Tree};
use super::{diagnostics, members};
use crate::{minute, repository};
use ground::fault::Fault;
use ground::paths::House;
use ground::process::Ended;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Failing tests that are tried once more; where more fail, the change broke them.
const MOST_AGAIN: usize = 8;

/// Results of tests that passed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tested {
    /// The line `test result: …` of each test binary.
    pub results: Vec<String>,
    pub passed: Vec<String>,
    /// Failed, and passed when they were tried again.
    pub flaky: Vec<String>,
    pub took: Duration,
}

/// Results of the tests of the tree that lives when they last ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    pub at: String,
    pub passed: Vec<String>,
    pub failed: Vec<String>,
}

impl Known {
    pub fn load(house: &House) -> Self {
        memory::state::read(&house.tests()).unwrap_or_default()
    }

    pub fn save(&self, house: &House) {
        memory::state::keep(&house.tests(), self);
    }

    /// Notes that these passed in the tree that lives from now on; tests that were not run keep their mark.
    pub fn green(mut self, at: String, passed: Vec<String>) -> Self {
        self.passed.extend(passed);
        self.passed.sort();
        self.passed.dedup();
        self.failed.retain(|name| self.passed.binary_search(name).is_err());
        self.at = at;
        self
    }

    /// Says in words how a test fares without the change.
    pub fn without_change(&self, test: &str) -> String {
        let has = |names: &[String]| names.iter().any(|name| name == test);
        match (has(&self.passed), has(&self.failed)) {
            (true, _) => format!("passes without the change ({})", minute(&self.at)),
            (_, true) => format!("fails without the change as well ({})", minute(&self.at)),
            _ => "not known whether it passes without the change".to_owned(),
        }
    }

    /// Says the same as `without_change`, or that the test came with the change.
    pub fn told(&self, house: &House, test: &str) -> String {
        let is_known = [&self.passed, &self.failed].iter().any(|names| names.iter().any(|name| name == test));
        let name = test.rsplit("::").next().unwrap_or(test);
        match !is_known && repository::has_function(house, name) == Some(false) {
            true => "new: without the change there is no such test".to_owned(),
            false => self.without_change(test),
        }
    }
}

/// Runs the tests of all packages of a tree, first of those that a change of these paths touches; ends with the
/// first that fail. Tests that take long run only if `filter` names them. `unchanged` is the time now, where the
/// tree is without a change: its failures are then noted as `Known`.
pub async fn test(
    tree: &Tree,
    paths: &[String],
    filter: Option<&str>,
    unchanged: Option<&str>,
) -> Result<Tested, Fault> {
    let (all, touched) = (members::names(tree.root()), members::touched(tree.root(), paths));
    let (first, rest): (Vec<&str>, Vec<&str>) =
        all.iter().map(String::as_str).partition(|name| touched.iter().any(|touched| touched == name));
    let mut sum = Tested::default();
    for packages in [first, rest].into_iter().filter(|packages| !packages.is_empty()) {
        let tested = run(tree, &packages, filter, unchanged).await?;
        sum.results.extend(tested.results);
        sum.passed.extend(tested.passed);
        sum.flaky.extend(tested.flaky);
        sum.took += tested.took;
    }
    Ok(sum)
}

/// Runs the tests of these packages; a fault names all that fail.
pub(super) async fn run(
    tree: &Tree,
    packages: &[&str],
    filter: Option<&str>,
    unchanged: Option<&str>,
) -> Result<Tested, Fault> {
    let house = &tree.context.house;
    // Tests that take long are left to the newborn's probation.
    let usual = ["--skip", cargo::PROBATION];
    let ended = tree.test(packages, filter.as_ref().map_or(usual.as_slice(), std::slice::from_ref)).await?;
    let tests = diagnostics::tests(&ended.stdout.text(), &ended.stderr.text());
    if let (Some(now), false, true) = (unchanged, ended.ok(), tests.whole && filter.is_none()) {
        let mut known = Known { at: now.to_owned(), ..Known::load(house) };
        known.failed = tests.failing().iter().map(|name| (*name).to_owned()).collect();
        known.passed.retain(|name| !known.failed.contains(name));
        known.save(house);
    }
    let mut tested = tested(&ended, tests.passed.clone());
    if ended.ok() {
        return Ok(tested);
    }
    let known = Known::load(house);
    let known = |name: &str| known.told(house, name);
    let again = (1..=MOST_AGAIN).contains(&tests.failed.len()) && tests.whole && !ended.timed_out;
    if !again {
        return Err(cargo::fault("cargo test", &ended, &known));
    }
    let names = tests.failing();
    let second = tree.test(packages, &[&["--exact"], names.as_slice()].concat()).await?;
    let passed = diagnostics::tests(&second.stdout.text(), &second.stderr.text()).passed;
    tested.flaky = names
        .iter()
        .filter(|name| passed.iter().any(|one| one == *name))
        .map(|name| (*name).to_owned())
        .collect();
    if second.ok() && tested.flaky.len() == names.len() {
        tested.passed.extend(tested.flaky.clone());
        return Ok(tested);
    }
    let flaky = |name: &str| match tested.flaky.iter().any(|one| one == name) {
        true => "flaky: it passed when it was tried again".to_owned(),
        false => known(name),
    };
    Err(cargo::fault("cargo test", &ended, &flaky))
}

fn tested(ended: &Ended, passed: Vec<String>) -> Tested {
    let said = ended.stdout.text();
    let results = said.lines().filter(|line| line.starts_with("test result:")).map(str::to_owned).collect();
    Tested { results, passed, flaky: Vec::new(), took: ended.took }
}
