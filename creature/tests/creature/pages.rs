//! Pages that are watched, one file a case: at each later look those sentences are told that are new, and no clock.

use crate::broker::{Answer, Asked, StandIn, loopback};
use ground::pages::Known;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What stands beside a page.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    later: Vec<Look>,
}

/// A later look: what is other than in the file, and what is told.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    replaced: Vec<(String, String)>,
    told: Vec<String>,
}

#[tokio::test]
async fn every_page_of_the_corpus_tells_what_is_new_in_it() {
    loopback!();
    let body = Arc::new(Mutex::new(String::new()));
    let serving = Arc::clone(&body);
    let html = vec![("content-type", "text/html; charset=utf-8".to_owned())];
    let server =
        StandIn::new(move |_: &Asked| Answer::Is(200, html.clone(), serving.lock().unwrap().clone()));
    let broker = server.client();
    let text = async |now: String| {
        *body.lock().unwrap() = now;
        hands::fetch_text(&broker, "https://p.example/", 4_000).await.unwrap().text
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/pages");
    let (mut cases, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ends| ends == "toml") {
            continue;
        }
        let right = std::fs::read_to_string(path.with_extension("toml"));
        let right = right.unwrap_or_else(|_| panic!("{} has no right outcome beside it", path.display()));
        let case: Case = toml::from_str(&right).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()));
        assert!(!case.later.is_empty(), "{} is looked at once only", path.display());
        let page = std::fs::read_to_string(&path).unwrap();
        let mut known = Known::default();
        assert!(!known.news(&text(page.clone()).await).is_empty(), "{}: nothing at first", path.display());
        cases += 1;
        for (at, look) in case.later.iter().enumerate() {
            let now = look.replaced.iter().fold(page.clone(), |page, (old, new)| page.replace(old, new));
            let told = known.news(&text(now).await);
            if told != look.told {
                let name = path.file_name().unwrap().display();
                wrong.push(format!("{name}, look {}: told {told:?}, meant {:?}", at + 2, look.told));
            }
        }
    }
    assert!(cases >= 15, "only {cases} cases in {}", folder.display());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
