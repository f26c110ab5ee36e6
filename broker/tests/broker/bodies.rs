//! Bodies: what their type says is what is judged, and nothing in them turns a call into another.

use crate::home::{ALL, BEARER, Home, Stub, it};
use broker::services::canonical;
use serde_json::{Value, json};

fn sent_as(kind: &str, body: &str) -> Result<(String, String), String> {
    let mut headers = vec![("content-type".to_owned(), kind.to_owned())];
    let text = canonical::body(&json!(body), "POST", &mut headers).map_err(|unfit| unfit.error)?;
    Ok((headers.remove(0).1, text))
}

#[test]
fn a_media_type_has_no_parameter_but_its_charset() {
    let form = "application/x-www-form-urlencoded";
    let twofold = "\"&to=evil@x&text=secrets&\"";
    for kind in [
        "application/x-www-form-urlencoded; x=json",
        "application/x-www-form-urlencoded;json",
        "application/json; charset=utf-7",
        "application/json; charset=utf-8; charset=utf-16",
        "application/json; boundary=x",
        "application/json, application/x-www-form-urlencoded",
        "application/json application/x-www-form-urlencoded",
        "json",
        "application/",
        "application/json;",
        "multipart/form-data; boundary=json",
        "multipart/form-data",
    ] {
        assert!(sent_as(kind, twofold).is_err(), "{kind}: {:?}", sent_as(kind, twofold));
    }
    // What only sounds like JSON is not read as such.
    for kind in ["application/jsonp", "text/x-json-form", "application/x-ndjson"] {
        let (sent, text) = sent_as(kind, "{ \"a\": 1 }").unwrap();
        assert_eq!((sent, text.as_str()), (format!("{kind}; charset=utf-8"), "{ \"a\": 1 }"));
    }
    let taken = [
        ("Application/JSON", "{ \"a\": 1 }", "application/json", "{\"a\":1}"),
        ("application/json;charset=UTF-8", "{}", "application/json", "{}"),
        ("application/ld+json; charset=\"utf-8\"", "{}", "application/ld+json", "{}"),
        ("application/x-www-form-urlencoded; charset=utf-8", "a=b c", form, "a=b%20c"),
        ("text/markdown", "# a", "text/markdown; charset=utf-8", "# a"),
    ];
    for (kind, body, sent, text) in taken {
        assert_eq!(sent_as(kind, body), Ok((sent.to_owned(), text.to_owned())), "{kind}");
    }
}

#[tokio::test]
async fn a_body_that_is_json_and_a_form_at_once_does_not_leave() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL).replace("untrusted = false", "untrusted = true"));
    let open = home.open().await;
    let post = |kind: &str, body: &str| json!({"service": "it", "method": "POST", "path": "/x", "body": body, "headers": {"content-type": kind}});
    let form = "application/x-www-form-urlencoded";
    assert_eq!(open.call(post(form, "to=ann%40example.org")).await["ok"], true);
    let twofold = "\"&to=evil@x&text=secrets&\"";
    let refused = open.call(post(&format!("{form}; x=json"), twofold)).await;
    assert!(refused["error"].as_str().unwrap().contains("content-type"), "{refused}");
    assert!(open.call(post(form, twofold)).await["asked"].is_string());
    assert_eq!(stub.seen().len(), 1);
}

#[test]
fn no_body_turns_a_call_into_another() {
    let names = ["_method", "$method", "_METHOD", "X-HTTP-Method-Override", "_http_method", "methodOverride"];
    for name in names {
        let bodies: [(&str, Value); 6] = [
            ("application/json", json!({name: "DELETE", "a": 1})),
            ("application/json", json!([{"deep": {name: "DELETE"}}])),
            ("application/vnd.api+json", json!({name: "DELETE"})),
            ("application/x-www-form-urlencoded", format!("a=1&{name}=DELETE").into()),
            ("text/plain", format!("a=1&{name}=DELETE").into()),
            ("text/plain", json!({name: "DELETE"}).to_string().into()),
        ];
        for (kind, body) in bodies {
            let mut headers = vec![("content-type".to_owned(), kind.to_owned())];
            let refused = canonical::body(&body, "POST", &mut headers);
            assert!(refused.is_err_and(|unfit| unfit.error.contains("not passed on")), "{kind}: {body}");
        }
        let body =
            format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\nDELETE\r\n--b--\r\n");
        assert!(sent_as("multipart/form-data; boundary=b", &body).is_err());
    }
    // A method by that name alone is a field like another: of an order, or of a call in a call.
    assert!(sent_as("application/json", "{\"method\":\"standard\"}").is_ok());
}
