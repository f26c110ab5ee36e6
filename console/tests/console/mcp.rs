//! The owner's MCP servers by the commands, with a real broker and a server that behaves as it is told.

use crate::driven::Driven;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use trials::disk::Disk;
use trials::programs::{mcp_like, sign_in_like};
use trials::{House, SOUND, said};

/// A house with a broker, and a server's folder beside it; its program and folder as words.
fn house() -> (House, String, String) {
    let house = House::new(SOUND).with_broker();
    let folder = house.folder.path().canonicalize().unwrap().join("like");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mode"), "").unwrap();
    std::fs::create_dir_all(house.path(".self/broker")).unwrap();
    (house, mcp_like().display().to_string(), folder.display().to_string())
}

fn add<'a>(options: &[&'a str], program: &'a str, folder: &'a str) -> Vec<&'a str> {
    [&["mcp", "add", "like", "--write", folder], options, &["--", program, folder]].concat()
}

/// What a command said, and its exit status.
fn told(house: &House, words: &[&str]) -> (String, i32) {
    let output = house.command(words).env("FERAL_CALLED", "feral").output().unwrap();
    (said(&output), output.status.code().unwrap())
}

#[test]
fn a_server_is_tried_shown_written_once_the_owner_says_yes_listed_and_taken_out() {
    let (house, program, folder) = house();
    let before = house.read("owner.toml");
    let (shown, code) = told(&house, &add(&[], &program, &folder));
    assert_eq!((code, house.read("owner.toml")), (1, before.clone()), "{shown}");
    for part in [
        "Looks (says it only looks; allow)",
        "Sends a text (ask)",
        "    [mcp.like]",
        "      { tool = \"look\", do = \"allow\", looks = true },",
        "      { tool = \"*\", do = \"ask\" },",
        "the same with --yes writes them",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (shown, code) = told(&house, &add(&["--yes"], &program, &folder));
    assert_eq!(code, 0, "{shown}");
    let written = house.read("owner.toml");
    let block = written.strip_prefix(&format!("{before}\n")).unwrap_or_else(|| panic!("{written}"));
    assert!(block.starts_with("[mcp.like]\n") && block.ends_with("]\n"), "{block}");
    assert_eq!(house.read(".self/broker/owner-before.toml"), before);
    let (shown, code) = told(&house, &add(&["--yes"], &program, &folder));
    assert!(code == 1 && shown.contains("like is in owner.toml already"), "{shown}");
    let (shown, code) = told(&house, &["mcp", "test", "like"]);
    assert!(
        code == 0 && shown.contains("Looks (says it only looks; allow, by the rule `look allow`)"),
        "{shown}"
    );
    let (shown, _) = told(&house, &["mcp"]);
    assert!(shown.contains("like") && shown.contains("the broker does not run"), "{shown}");
    let (shown, code) = told(&house, &["mcp", "remove", "lik"]);
    assert!(code == 1 && shown.contains("did you mean like?"), "{shown}");
    let (shown, code) = told(&house, &["mcp", "remove", "like"]);
    assert_eq!((code, house.read("owner.toml").trim_end()), (0, before.trim_end()), "{shown}");
    assert!(shown.contains(".self/broker/mcp/like"), "its home stays: {shown}");
    assert_eq!(house.read(".self/broker/owner-before.toml"), written);
}

#[test]
fn at_a_terminal_the_owner_is_asked() {
    let (house, program, folder) = house();
    let before = house.read("owner.toml");
    for (answer, is_written) in [("no", false), ("", false), ("yes", true)] {
        let mut command = house.command(&add(&[], &program, &folder));
        command.env("NO_COLOR", "1");
        let mut terminal = Driven::start(command, 160, 50);
        terminal.shows("Write them? (yes or no)");
        terminal.line(answer);
        assert_eq!(terminal.wait(), i32::from(!is_written), "{}", terminal.whole());
        assert_eq!(house.read("owner.toml") != before, is_written, "{answer:?}");
    }
}

#[test]
fn nothing_is_written_where_something_is_wrong_and_what_to_do_is_said() {
    let (house, program, folder) = house();
    let before = house.read("owner.toml");
    let (program, folder) = (program.as_str(), folder.as_str());
    let cases: &[(&[&str], &str)] = &[
        (&["a b", "--", program], "cannot be its name: a service is named in a-z, 0-9 and -"),
        (&["a.b", "--", program], "cannot be its name"),
        (&["\"", "--", program], "cannot be its name"),
        (&["--like", "filez", "mine"], "did you mean files?"),
        (&["filez"], "did you mean files?"),
        (&["files"], "files wants FOLDER…"),
        (&["mail"], "mail wants --set MAIL_ADDRESS=VALUE --set MAIL_IMAP=VALUE --set MAIL_SMTP=VALUE"),
        (&["mine", "--set", "nonsense", "--", program], "--set takes NAME=VALUE"),
        (&["files", "/no/such/folder"], "/no/such/folder is no folder"),
        (&["mine", "--write", "/no/such/folder", "--", program], "is no folder"),
        (&["mine", "--", "no-such-program"], "no-such-program is no program on this machine"),
        (&["mine", "--env", "NOT_SET", "--", program], "NOT_SET is not set: put it into .env"),
        (&["mine", "--env", "sk-live 1", "--", program], "a variable must be the name of a variable"),
        (&["mine", "--url", "http://example.org/mcp", "--yes"], "must be https"),
        (&["mine", "--url", "https://u:p@example.org/mcp", "--yes"], "must hold no user name or password"),
        (&["mine", "--url", "http://127.0.0.1:1/mcp", "--yes"], "mine did not answer"),
        (&["mine", "--yes", "--", "sh", "-c", "echo it needs a key >&2"], "it needs a key"),
        (
            &["mine", "--yes", "--", "sh", "-c", "echo garbage; echo '{\"jsonrpc\"'"],
            "it ended before it answered",
        ),
    ];
    for (words, part) in cases {
        let (shown, code) = told(&house, &[&["mcp", "add"], *words].concat());
        assert!(code == 1 && shown.contains(part), "{words:?}, {part}: {code} {shown}");
        assert_eq!(house.read("owner.toml"), before, "{words:?}");
    }
    house.write("owner.toml", "walls = on\n");
    for words in [add(&["--yes"], program, folder), vec!["mcp", "remove", "like"], vec!["mcp", "list"]] {
        let (shown, code) = told(&house, &words);
        assert!(code == 1 && shown.contains("owner.toml, line 1"), "{words:?}: {shown}");
        assert_eq!(house.read("owner.toml"), "walls = on\n");
    }
    // What cannot stand beside a server written so is found before it is written.
    house.write("owner.toml", "mcp = { }\n");
    let (shown, code) = told(&house, &add(&["--yes"], program, folder));
    assert!(code == 1 && house.read("owner.toml") == "mcp = { }\n", "{shown}");
}

#[test]
fn a_server_that_does_not_answer_is_waited_for_in_sight_and_ctrl_c_leaves_nothing_behind() {
    let (house, ..) = house();
    let before = house.read("owner.toml");
    let mut command =
        house.command(&["mcp", "add", "mine", "--yes", "--", "sh", "-c", "echo > $HOME/here; sleep 1000"]);
    command.env("NO_COLOR", "1");
    let mut terminal = Driven::start(command, 120, 40);
    terminal.shows("waiting for mine");
    let home = house.path(".self/broker/mcp/mine");
    assert!(home.join("here").exists() && !within(&home).is_empty());
    terminal.keys("\u{3}");
    assert_ne!(terminal.wait(), 0);
    house.until("its program to be gone", || within(&home).is_empty());
    assert_eq!(house.read("owner.toml"), before);
    assert!(!house.path(".self/broker/owner-before.toml").exists());
}

#[test]
fn on_a_full_disk_nothing_is_written_and_that_is_said() {
    let Some(disk) = Disk::new(&[]) else { return };
    let house = House::new_in(&disk.at(), SOUND);
    std::fs::create_dir_all(house.path(".self/broker")).unwrap();
    let before = house.read("owner.toml");
    let mut fill = std::fs::File::create(disk.at().join("fill")).unwrap();
    let block = [0_u8; 4_096];
    while fill.write_all(&block).is_ok() {}
    let words = ["mcp", "add", "mine", "--untried", "--yes", "--", "sh", "-c", "exit"];
    let (shown, code) = told(&house, &words);
    assert!(code == 1 && shown.contains("No space left on device"), "{code} {shown}");
    assert_eq!(house.read("owner.toml"), before);
    let left = std::fs::read_dir(&house.root).unwrap().flatten().map(|entry| entry.file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().ends_with(".aside")));
    drop(fill);
    std::fs::remove_file(disk.at().join("fill")).unwrap();
    // Given back with the next commit of its journal.
    house.until("room again", || std::fs::write(disk.at().join("room"), [0; 1 << 20]).is_ok());
    let (shown, code) = told(&house, &words);
    assert!(
        code == 0 && shown.contains("It was not tried: feral mcp test mine does that."),
        "{code} {shown}"
    );
    assert!(house.read("owner.toml").starts_with(&before));
}

/// Processes whose working directory is this one.
fn within(folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap();
    let pids = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_there = |path: &PathBuf| std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder);
    pids.filter(is_there).map(|path| path.display().to_string()).collect()
}

#[test]
fn a_server_in_trouble_shows_in_status_doctor_and_the_list() {
    let (house, program, folder) = house();
    house.settings(&format!(
        "[mcp.like]\ncommand = [{program:?}, {folder:?}]\nwrite = [{folder:?}]\n\n\
         [mcp.lost]\ncommand = [\"no-such-program\"]\nenv = [\"NOT_SET\"]\n"
    ));
    let guardian = house.start();
    let trouble = "lost cannot be reached: no-such-program is no program on this machine";
    house.until("status to tell of it", || said(&house.ask(&["status"])).contains(trouble));
    let doctor = said(&house.ask(&["doctor"]));
    assert!(doctor.contains("lost: NOT_SET is not set"), "{doctor}");
    assert!(doctor.contains(trouble) && doctor.contains("mcp test lost tries it now"), "{doctor}");
    house.until("the server to be up", || {
        told(&house, &["mcp", "list"]).0.contains("up; 6 tools, 0 of 120 calls")
    });
    let (shown, _) = told(&house, &["mcp", "list"]);
    let (tested, _) = told(&house, &["mcp", "test", "like"]);
    assert!(tested.contains("    { tool = \"look\", do = \"allow\", looks = true },"), "{tested}");
    for part in [trouble, "NOT_SET is not set: put it into .env", "feral mcp test like proposes some"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let listed: serde_json::Value =
        serde_json::from_slice(&house.ask(&["mcp", "list", "--json"]).stdout).unwrap();
    assert_eq!(
        (&listed["broker_runs"], &listed["servers"][0]["state"]),
        (&true.into(), &"up".into()),
        "{listed}"
    );
    assert_eq!(listed["servers"][1]["missing"], serde_json::json!(["NOT_SET"]), "{listed}");
    guardian.stop();
}

/// An address that wants a sign-in, and says of none how that is done.
fn wants_a_sign_in() -> String {
    let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", server.server_addr().to_ip().unwrap());
    std::thread::spawn(move || {
        for request in server.incoming_requests() {
            let status = if request.url() == "/mcp" { 401 } else { 404 };
            let _ = request.respond(tiny_http::Response::empty(status));
        }
    });
    url
}

#[test]
fn an_address_that_wants_a_sign_in_is_written_and_the_sign_in_offered() {
    let (house, ..) = house();
    let before = house.read("owner.toml");
    let url = wants_a_sign_in();
    let words = ["mcp", "add", "far", "--url", &url];
    let (shown, code) = told(&house, &words);
    assert!(
        code == 1 && shown.contains("far wants you to sign in") && house.read("owner.toml") == before,
        "{shown}"
    );
    for (write, sign_in, said, code) in [
        ("no", "", "Nothing was written", 1),
        ("yes", "no", "feral mcp sign-in far signs you in; feral mcp test far then shows its tools", 0),
        ("yes", "yes", "neither it nor its address says where one signs in", 1),
    ] {
        house.write("owner.toml", &before);
        let mut command = house.command(&words);
        command.env("NO_COLOR", "1").env("FERAL_CALLED", "feral");
        let mut terminal = Driven::start(command, 160, 50);
        terminal.shows("Write them? (yes or no)");
        terminal.line(write);
        if write == "yes" {
            terminal.shows("Sign in now, by a browser? (yes or no)");
            terminal.line(sign_in);
        }
        assert_eq!(terminal.wait(), code, "{}", terminal.whole());
        assert!(terminal.whole().contains(said), "{said}: {}", terminal.whole());
        let asks = house.read("owner.toml").contains("{ tool = \"*\", do = \"ask\" }");
        assert_eq!(asks, write == "yes");
    }
    house.write("owner.toml", &before);
    let (shown, code) = told(&house, &["mcp", "add", "far", "--url", &url, "--yes"]);
    assert!(
        code == 0
            && shown.contains("feral mcp sign-in far signs you in")
            && !shown.contains("http://127.0.0.1:0"),
        "{shown}"
    );
    assert!(house.read("owner.toml").contains("[mcp.far]"));
}

#[test]
fn a_server_that_takes_no_second_one_beside_it_is_shown_as_the_broker_has_it() {
    let (house, program, folder) = house();
    std::fs::write(Path::new(&folder).join("mode"), "alone").unwrap();
    house.settings(&format!(
        "[mcp.like]\ncommand = [{program:?}, {folder:?}]\nwrite = [{folder:?}]\nrules = [{{ tool = \"look\", do = \"allow\" }}]\n"
    ));
    let guardian = house.start();
    house.until("the server to be up", || told(&house, &["mcp", "list"]).0.contains("up; 6 tools"));
    let (shown, code) = told(&house, &["mcp", "test", "like"]);
    assert_eq!(code, 0, "{shown}");
    for part in [
        "is up: the broker runs it; 6 tools",
        "Looks (says it only looks; allow, by the rule `look allow`)",
        "a second one, started beside it to try it, did not answer",
        "another one has these files",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let tested: serde_json::Value =
        serde_json::from_slice(&house.ask(&["mcp", "test", "like", "--json"]).stdout).unwrap();
    assert_eq!((&tested["ok"], &tested["runs"]), (&true.into(), &true.into()), "{tested}");
    guardian.stop();
    let (shown, code) = told(&house, &["mcp", "test", "like"]);
    assert!(code == 0 && shown.contains("answered within"), "{shown}");
}

/// A server that wants a sign-in, as the broker's tests have it; and its address.
fn far() -> (Child, String) {
    let mut command = Command::new(sign_in_like());
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (server, url.trim().to_owned())
}

/// Opens an address as a browser does, and where it leads, as one of somebody who agrees.
fn browse(url: &str) {
    let (host, target) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    if let Some(back) = answer.lines().find_map(|line| line.strip_prefix("location: ")) {
        browse(back);
    }
}

#[test]
fn who_signs_in_while_adding_is_shown_the_tools_and_asked_about_their_rules() {
    let (house, ..) = house();
    let (mut server, url) = far();
    let mut command = house.command(&["mcp", "add", "far", "--url", &url]);
    command.env("NO_COLOR", "1").env("FERAL_CALLED", "feral");
    // Wide enough for the whole address on a line.
    let mut terminal = Driven::start(command, 2_000, 50);
    terminal.shows("far wants you to sign in");
    terminal.shows("Write them? (yes or no)");
    terminal.line("yes");
    terminal.shows("Sign in now, by a browser? (yes or no)");
    assert!(house.read("owner.toml").contains("{ tool = \"*\", do = \"ask\" }"));
    terminal.line("yes");
    terminal.shows("after 5 minutes it ends");
    let whole = terminal.whole();
    let address = whole.lines().find_map(|line| line.trim().strip_prefix("http://")).unwrap();
    browse(&format!("http://{}", address.trim()));
    terminal.shows("Signed in at far");
    // Its tools, of which one says that it only looks: so there is a rule to agree to.
    terminal.shows("{ tool = \"look\", do = \"allow\", looks = true }");
    terminal.line("yes");
    assert_eq!(terminal.wait(), 0, "{}", terminal.whole());
    let whole = terminal.whole();
    assert!(whole.contains("2 tools") && !whole.contains("token-"), "{whole}");
    let written = house.read("owner.toml");
    assert_eq!(written.matches("[mcp.far]").count(), 1, "{written}");
    assert!(written.contains("tool = \"look\", do = \"allow\", looks = true"), "{written}");
    let (shown, code) = told(&house, &["mcp", "test", "far"]);
    assert!(code == 0 && shown.contains("allow, by the rule `look allow`"), "{shown}");
    drop(server.stdin.take());
    server.wait().unwrap();
}
