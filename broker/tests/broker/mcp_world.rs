//! The other side of a sign-in: a server that wants one, with its authorization server.

use crate::stub::{Reply, Seen, Stub, reply};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// An MCP server and its authorization server at one address, which do as `mode` says.
#[derive(Default)]
pub struct World {
    pub mode: String,
    /// Codes that were given, with the challenge and the scope that they were asked for with.
    pub codes: BTreeMap<String, (String, String)>,
    pub number: u32,
    /// The one token and refresh token that are taken now, with their scope.
    pub access: String,
    pub refresh: String,
    pub scope: String,
}

impl World {
    /// Serves one that does as `mode` says, on this machine.
    pub fn start(mode: &str) -> (Stub, Arc<Mutex<Self>>) {
        let world = Arc::new(Mutex::new(Self { mode: mode.to_owned(), ..Self::default() }));
        let kept = world.clone();
        (Stub::start(move |seen| kept.lock().unwrap().answer(seen)), world)
    }

    fn tokens(&mut self, scope: &str) -> Reply {
        self.number += 1;
        self.scope = scope.to_owned();
        (self.access, self.refresh) = (
            format!("access-token-{}-0123456789", self.number),
            format!("refresh-token-{}-0123456789", self.number),
        );
        told(
            200,
            &json!({
                "access_token": self.access, "refresh_token": self.refresh, "token_type": "Bearer", "expires_in": 3600,
            }),
        )
    }

    fn token(&mut self, form: &BTreeMap<String, String>) -> Reply {
        let of = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        match of("grant_type") {
            "authorization_code" => match self.codes.remove(of("code")) {
                Some((challenge, scope)) if proof(of("code_verifier")) == challenge => self.tokens(&scope),
                _ => told(400, &json!({"error": "invalid_grant"})),
            },
            "refresh_token" if of("refresh_token") == self.refresh => {
                let scope = self.scope.clone();
                self.tokens(&scope)
            }
            "client_credentials" if of("client_secret") == "client-secret-0123" => self.tokens("read"),
            _ => told(400, &json!({"error": "invalid_grant"})),
        }
    }

    fn answer(&mut self, seen: &Seen) -> Reply {
        let base = format!("http://{}", seen.header("host").unwrap());
        let is = |word: &str| self.mode.contains(word);
        let target = Url::parse(&format!("{base}{}", seen.target)).unwrap();
        let form: BTreeMap<String, String> = url_pairs(match seen.method.as_str() {
            "GET" => target.query().unwrap_or_default(),
            _ => &seen.body,
        });
        let token_endpoint = match () {
            () if is("private") => "http://10.0.0.1/token".to_owned(),
            () if is("metadata-address") => "https://169.254.169.254/token".to_owned(),
            () if is("in the open") => "http://sign-in.example.org/token".to_owned(),
            () => format!("{base}/token"),
        };
        match target.path() {
            "/mcp" => self.mcp(seen, &base),
            "/.well-known/oauth-protected-resource/mcp" => {
                let resource = if is("resource of others") {
                    "https://other.example.org/mcp".into()
                } else {
                    format!("{base}/mcp")
                };
                told(
                    200,
                    &json!({"resource": resource, "authorization_servers": [base], "scopes_supported": ["read"]}),
                )
            }
            "/.well-known/oauth-authorization-server" => told(
                200,
                &json!({
                    "issuer": if is("issuer of others") { "https://other.example.org".into() } else { base.clone() },
                    "authorization_endpoint": if is("page elsewhere") { "http://10.0.0.1/authorize".into() } else { format!("{base}/authorize") },
                    "token_endpoint": token_endpoint,
                    "registration_endpoint": if is("closed") { None } else { Some(format!("{base}/register")) },
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": if is("no proof") { json!(["plain"]) } else if is("silent") { Value::Null } else { json!(["S256"]) },
                    "authorization_response_iss_parameter_supported": true,
                    "revocation_endpoint": match () {
                        () if is("keeps all") => None,
                        () if is("takes back elsewhere") => Some("http://10.0.0.1/revoke".to_owned()),
                        () => Some(format!("{base}/revoke")),
                    },
                }),
            ),
            "/register" => {
                let asked: Value = serde_json::from_str(&seen.body).unwrap();
                told(201, &json!({"client_id": "registered-here", "redirect_uris": asked["redirect_uris"]}))
            }
            "/authorize" => self.authorize(&form, &base),
            "/token" => self.token(&form),
            // RFC 7009, 2.2: the answer to a token that is none is the same.
            "/revoke" if is("is down") => reply(503, ""),
            "/revoke" => {
                let token = form.get("token").map(String::as_str).unwrap_or_default();
                match token == self.refresh {
                    true => (self.access, self.refresh) = Default::default(),
                    false if is("of one kind") => {
                        return told(400, &json!({"error": "unsupported_token_type"}));
                    }
                    false => {}
                }
                reply(200, "")
            }
            _ => reply(404, ""),
        }
    }

    fn authorize(&mut self, form: &BTreeMap<String, String>, base: &str) -> Reply {
        self.number += 1;
        let code = format!("code-{}", self.number);
        let of = |name: &str| form.get(name).cloned().unwrap_or_default();
        self.codes.insert(code.clone(), (of("code_challenge"), of("scope")));
        let mut back = Url::parse(&of("redirect_uri")).unwrap();
        let issuer = if self.mode.contains("mixed up") { "https://evil.example.org" } else { base };
        if self.mode.contains("says no") {
            back.query_pairs_mut().append_pair("error", "access_denied");
        } else {
            back.query_pairs_mut().append_pair("code", &code).append_pair("iss", issuer);
        }
        back.query_pairs_mut().append_pair("state", &of("state"));
        Reply { headers: vec![("location", back.into())], ..reply(302, "") }
    }

    fn mcp(&self, seen: &Seen, base: &str) -> Reply {
        let refuse = |status: u16, more: &str| Reply {
            headers: vec![(
                "www-authenticate",
                format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"{more}"),
            )],
            ..reply(status, "")
        };
        if self.access.is_empty() || seen.header("authorization") != Some(&format!("Bearer {}", self.access))
        {
            return refuse(401, ", scope=\"read\"");
        }
        let asked: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "like", "version": "1"}}),
            "tools/list" => json!({"tools": [
                {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}, {"name": "write", "inputSchema": {"type": "object"}}]}),
            "tools/call" if asked["params"]["name"] == "write" && !self.scope.contains("write") => {
                return refuse(403, ", error=\"insufficient_scope\", scope=\"write\"");
            }
            "tools/call" => {
                json!({"content": [{"type": "text", "text": format!("seen with {}", self.access)}]})
            }
            "server/discover" => return reply(400, "no session"),
            _ if seen.method == "POST" => return reply(202, ""),
            _ => return reply(405, ""),
        };
        told(200, &json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
    }
}

fn told(status: u16, body: &Value) -> Reply {
    Reply {
        headers: vec![("content-type", "application/json".to_owned())],
        ..reply(status, body.to_string())
    }
}

pub fn url_pairs(text: &str) -> BTreeMap<String, String> {
    let url = Url::parse(&format!("http://form/?{text}")).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// RFC 7636, 4.2.
fn proof(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}
