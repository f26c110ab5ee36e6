//! Templates of local models that refuse a conversation as it stands: it is sent as they take it, and that is kept.

use super::*;

/// Found by llama.cpp's server with its own templates: a conversation with two calls in a turn, with words after a result,
/// or with ids of another length was refused for ever, and the mind fell to JSON or was told that its server is busy.
#[tokio::test]
async fn a_template_that_refuses_calls_words_or_ids_as_they_stand_gets_them_as_it_takes_them() {
    loopback!();
    for (single_calls, alternates, no_ids) in [
        (true, false, false),
        (false, true, false),
        (true, true, false),
        (false, true, true),
        (true, true, true),
    ] {
        let case = format!("single calls {single_calls}, alternates {alternates}, no ids {no_ids}");
        let local = Rules { roles_alternate: false, window: 1_000_000, no_ids, ..Rules::local() };
        let rules = Rules { single_calls, alternates_beside_calls: alternates, ..local };
        let server = Faithful::start(faithful::Wire::Chat, rules, |seen| {
            match seen.all_text().matches("News ").count() % 3 {
                2 => Say::new().says("So it is."),
                _ => Say::new()
                    .says("I look.")
                    .calls("repo.read", json!({"path": "a"}))
                    .calls("repo.read", json!({"path": "b"})),
            }
        });
        let client = client(&server, Wire::Chat, "local-test");
        let replies = lives_with_news(&client, &server, 9).await;
        server.assert_no_violations();
        assert_eq!(replies.iter().filter(|reply| reply.calls.len() == 2).count(), 6, "{case}");
        let refused = server.refusals();
        assert!((1..=3).contains(&refused.len()), "{case}: each is refused once: {refused:#?}");
        let last = server.seen().pop().unwrap();
        let (all, results) = (last.all_text(), last.last_results());
        assert!((0..8).all(|round| all.contains(&format!("News {round}."))), "{case}: {all}");
        assert!(
            results.iter().all(|(name, text)| name == "repo.read" && text.starts_with("of 7")),
            "{case}: {results:?}"
        );
        let kept: model::Accepted = serde_json::from_value(json!(client.accepted())).unwrap();
        let later = super::client(&server, Wire::Chat, "local-test");
        later.accept(kept);
        lives_with_news(&later, &server, 3).await;
        assert_eq!(server.refusals().len(), refused.len(), "{case}: it is kept");
    }
}
