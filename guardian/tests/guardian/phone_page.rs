//! The page beyond this machine: built and started where the owner's settings open it, started anew with others, ended without.

use crate::broker_process::{copies_it, own_target};
use std::fs;
use std::process::Command;
use trials::{Guardian, House, SOUND, said};

const OPEN: &str = "[page]\nlisten = \"127.0.0.1:4433\"\n";

/// A house with a cargo that makes this of the page's program.
fn house(program: &str) -> (House, Command) {
    let house = House::new(SOUND);
    let command = own_target(&house, &copies_it("0"));
    let cargo = house.folder.path().join("cargo");
    let others = fs::read_to_string(&cargo).unwrap();
    let page = format!(
        "#!/bin/sh\ncase \"$*\" in *--package*phone-page*) echo page >> .self/workspace/built;\n\
         test ! -e target/debug/phone-page || exit 0; printf '%s\\n' '#!/bin/sh' '{program}' > target/debug/phone-page; \
         chmod +x target/debug/phone-page; exit 0;; esac\n"
    );
    fs::write(&cargo, others.replacen("#!/bin/sh\n", &page, 1)).unwrap();
    (house, command)
}

#[test]
fn it_is_built_and_served_only_where_it_is_opened() {
    let (house, mut command) = house("echo \"$FERAL_PAGE\" >> .self/workspace/served; exec sleep 1000");
    house.settings("");
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until_broker(None);
    assert!(!house.path("target/debug/phone-page").exists(), "nobody builds it who does not want it");
    let served = || house.read(".self/workspace/served").lines().map(str::to_owned).collect::<Vec<_>>();
    house.settings(OPEN);
    house.until("it", || served().len() == 1);
    assert!(served()[0].contains("\"listen\":\"127.0.0.1:4433\""), "{:?}", served());
    let status = said(&house.ask(&["status"]));
    assert!(status.contains("not there yet: it is to listen at 127.0.0.1:4433"), "{status}");
    // Other settings, another process; settings of others leave it alone.
    house.settings(&format!("{OPEN}host = \"house.example.org\"\n"));
    house.until("it anew", || served().len() == 2);
    assert!(served()[1].contains("house.example.org"));
    let changes = || house.told("settings_changed").len();
    let before = changes();
    house.settings(&format!("{OPEN}host = \"house.example.org\"\n[show]\nfeed = \"verbose\"\n"));
    house.until("the change", || changes() > before);
    assert_eq!(served().len(), 2);
    house.settings("");
    house.until("its end", || trials::child_named(guardian.acting(), "sleep").is_none());
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn one_that_does_not_stay_is_told_of_with_its_reason_and_the_rest_lives() {
    let (house, mut command) = house("echo page: 127.0.0.1:4433 cannot be had >&2; exit 1");
    house.settings(OPEN);
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    let told = "your page is not open beyond this machine: 127.0.0.1:4433 cannot be had";
    house.until("that it is told", || fs::read_to_string(&guardian.log).unwrap().contains(told));
    house.until_broker(None);
    assert!(house.deaths().is_empty());
    guardian.stop();
}
