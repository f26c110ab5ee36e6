//! One act from the creature's call to the owner's yes: the real broker beside the real guardian, and a service that counts.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use trials::{Guardian, House};

pub const TELLS: &str = "env > .self/workspace/environment.new; mv .self/workspace/environment.new .self/workspace/environment; think x; live";

/// A service that keeps what it was sent.
pub fn service() -> (u16, Arc<Mutex<Vec<String>>>) {
    let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
    let port = server.server_addr().to_ip().unwrap().port();
    let got = Arc::new(Mutex::new(Vec::new()));
    let keeps = got.clone();
    std::thread::spawn(move || {
        for mut request in server.incoming_requests() {
            let mut body = String::new();
            request.as_reader().read_to_string(&mut body).unwrap();
            let key = request.headers().iter().find(|header| header.field.equiv("authorization"));
            let key = key.map(|header| header.value.to_string()).unwrap_or_default();
            keeps.lock().unwrap().push(format!("{} {} {key} {body}", request.method(), request.url()));
            let _ = request.respond(
                tiny_http::Response::from_string("sk-of-the-service\u{1b}[2J is made").with_status_code(201),
            );
        }
    });
    (port, got)
}

pub fn call(house: &House, body: &Value) -> Value {
    let environment = house.read(".self/workspace/environment");
    let told =
        |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap();
    let mut stream = TcpStream::connect(told("FERAL_BROKER").strip_prefix("http://").unwrap()).unwrap();
    let (token, body) = (told("FERAL_BROKER_TOKEN"), body.to_string());
    write!(
        stream,
        "POST /service HTTP/1.1\r\nhost: broker\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or_else(|_| panic!("{answer}"))
}

/// A house whose life may ask for orders at a service, and what that was sent.
pub fn shop() -> (House, Guardian, Arc<Mutex<Vec<String>>>) {
    let (port, got) = service();
    let house = House::new(TELLS).with_broker();
    let services = format!(
        "[services.shop]\nbase_url = \"http://127.0.0.1:{port}\"\nallow_private = true\n\
         auth = {{ kind = \"bearer\", token_env = \"SHOP_KEY\" }}\n\
         rules = [{{ method = \"POST\", path = \"/orders\", do = \"ask\" }}]\n"
    );
    house.write("owner.toml", &format!("walls = \"off\"\n{}{services}", house.read("owner.toml")));
    house.write(".env", "SHOP_KEY=sk-of-the-service\n");
    let guardian = house.start();
    house.until("a life", || house.path(".self/workspace/environment").exists());
    house.until_broker(None);
    (house, guardian, got)
}

fn said(house: &House, args: &[&str]) -> String {
    let output = house.ask(args);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn what_is_approved_is_done_once_and_exactly_so() {
    let (house, guardian, got) = shop();
    let body = "two of them\u{1b}[2J, please";
    let asked = call(
        &house,
        &json!({"service": "shop", "method": "POST", "path": "/orders", "body": body, "reason": "to sell"}),
    );
    let id = asked["asked"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    house.until("it to wait", || house.broker()["asks_waiting"] == 1);
    let listed = said(&house, &["asks"]);
    assert!(listed.contains(&format!("{id}: POST shop /orders")) && !listed.contains('\u{1b}'), "{listed}");
    let whole = said(&house, &["asks", &id]);
    assert!(whole.contains("two of them\\u{1b}[2J, please") && !whole.contains("sk-of"), "{whole}");
    assert!(got.lock().unwrap().is_empty(), "nothing before a yes");
    let outcome = said(&house, &["approve", &id]);
    assert!(
        outcome.contains(&format!("{id}: executed, status 201")) && !outcome.contains("sk-of"),
        "{outcome}"
    );
    assert_eq!(*got.lock().unwrap(), [format!("POST /orders Bearer sk-of-the-service {body}")]);
    assert!(said(&house, &["approve", &id]).contains("has been answered"));
    let second =
        call(&house, &json!({"service": "shop", "method": "POST", "path": "/orders", "body": "three"}));
    let id = second["asked"].as_str().unwrap().to_owned();
    assert!(said(&house, &["deny", &id]).contains(&format!("{id}: denied")));
    assert_eq!(got.lock().unwrap().len(), 1);
    let history = said(&house, &["history"]);
    assert!(history.contains("asked POST shop /orders") && history.contains("2 asked"), "{history}");
    assert!(!history.contains("BROKEN"), "{history}");
    guardian.stop();
}
