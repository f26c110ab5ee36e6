//! Python and npm packages behind the walls of a real guardian: a new name waits for the owner's yes, then it is installed.
//!
//! A registry on this machine stands in for the owner's.

use crate::registry::{has, npm, python};
use trials::{House, lines};

/// A life that installs `heron` with both, each anew once an ask more was carried out, and says how it went.
const LIFE: &str = r#"
here=$PWD/.self/workspace
carried() { cat .self/asks.jsonl 2> /dev/null | grep -c '"event":"executed"'; }
again() {
  for turn in 1 2 3 4; do
    before=$(carried)
    sh -c "$2" > $here/$1.$turn 2>&1 && { cp $here/$1.$turn $here/$1.done; return; }
    grep -q '(ask ' $here/$1.$turn || return
    until [ "$(carried)" != "$before" ]; do sleep 0.1; done
  done
}
(
  env > $here/environment
  mkdir -p $here/bank; echo '{"name": "bank", "version": "1.0.0"}' > $here/bank/package.json
  if python3 -m venv $here/env > $here/venv 2>&1; then
    again pip "$here/env/bin/python -m pip install heron"
    $here/env/bin/python -c 'import heron, reed; print(heron.told, reed.told)' > $here/pip.told 2>&1
    $here/env/bin/python -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=5)' "INDEX" > $here/past 2>&1
    echo $? >> $here/past
  fi
  again npm "cd $here/bank && npm install heron"
  (cd $here/bank && node -e "console.log(require('heron'), require('@bank/reed'))") > $here/npm.told 2>&1
  touch $here/over
) &
think alive; live"#;

#[test]
fn packages_are_installed_behind_the_walls_once_the_owner_said_yes() {
    let (by_pip, by_npm) = (has("python3", &["-c", "import ensurepip, venv"]), has("npm", &["--version"]));
    if !by_pip {
        return;
    }
    let (index, registry) = (python(true), by_npm.then(npm));
    let house = House::new(&LIFE.replace("INDEX", &index.url("/simple/heron/"))).with_broker();
    let of_npm = registry
        .as_ref()
        .map_or(String::new(), |registry| format!("npm = true\nnpm_registry = \"{}\"\n", registry.url("/")));
    house.settings(&format!(
        "[packages]\npython = true\npython_index = \"{}\"\n{of_npm}",
        index.url("/simple")
    ));
    let guardian = house.start();
    let mut answered = Vec::new();
    house.until("everything to be installed", || {
        for line in lines(&house.path(".self/asks.jsonl")) {
            let id = line["id"].as_str().unwrap_or_default().to_owned();
            if line["event"] == "asked" && !answered.contains(&id) {
                assert!(
                    index.files().len() + registry.as_ref().map_or(0, |npm| npm.files().len())
                        <= answered.len() * 2
                );
                let said = house.ask(&["approve", &id]);
                assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
                answered.push(id);
            }
        }
        house.path(".self/workspace/over").exists()
    });
    let walls = house.status()["walls"].as_str().unwrap_or_default().to_owned();
    println!("walls are {walls}; {} asks were answered", answered.len());
    let read = |name: &str| house.read(&format!(".self/workspace/{name}"));
    assert!(read("pip.told").contains("seven herons seven reeds"), "{}{}", read("venv"), read("pip.1"));
    assert!(
        read("pip.1").contains("heron is new to this house and waits for the owner's yes (ask "),
        "{}",
        read("pip.1")
    );
    if let Some(registry) = &registry {
        assert!(read("npm.told").contains("seven of heron seven of @bank/reed"), "{}", read("npm.1"));
        assert!(!house.path(".self/workspace/bank/node_modules/heron/RAN").exists(), "an install script ran");
        assert!(registry.asked().iter().all(|line| line.starts_with("GET ") && !line.contains("key")));
    }
    if walls == "full" {
        assert!(read("past").ends_with("1\n"), "past the door to the registry: {}", read("past"));
    }
    let environment = read("environment");
    assert!(!environment.contains(&index.at), "the registry's own address is not told: {environment}");
    assert!(environment.contains("PIP_ONLY_BINARY=:all:"), "{environment}");
    assert_eq!(environment.contains("NPM_CONFIG_IGNORE_SCRIPTS=true"), by_npm, "{environment}");
    let ledger = lines(&house.path(".self/ledger.jsonl"));
    assert!(
        ledger
            .iter()
            .any(|line| line["service"] == "python" && line["path"] == "heron heron-1.0-py3-none-any.whl"),
        "{ledger:#?}"
    );
    assert_eq!(guardian.stop(), 0);
}
