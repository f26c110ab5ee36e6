//! The broker's page as rows for people: state, model in use, money spent, asks that wait.

use crate::records::{text, view::field};
use crate::terminal::typed;
use crate::{House, asks, files, minds, moments, own_time, servers};
use serde_json::Value;

/// The broker's state, money spent and waiting asks: for the first screen and for `status`.
pub fn lines(house: &House, broker: Option<&Value>) -> Vec<(&'static str, String)> {
    let Some(broker) = broker else { return vec![] };
    let number = |name: &str| field::<Option<u64>>(broker, name);
    let (note, runs) = (text(broker, "note"), field::<bool>(broker, "running"));
    let port = number("port").filter(|_| runs);
    let port = port.map(|port| format!("port {port}, ")).unwrap_or_default();
    let again = number("restarts").filter(|restarts| *restarts > 0);
    let again = again.map(|restarts| match restarts {
        1 => ", started again once".to_owned(),
        more => format!(", started again {more} times"),
    });
    let again = again.unwrap_or_default();
    let mut lines = vec![("broker", format!("{port}{note}{again}"))];
    let budget = files::read_small(&house.budget()).ok().flatten().unwrap_or_default();
    match serde_json::from_slice::<Value>(&budget) {
        Ok(page) => {
            // A broker that has ended wrote its model rows some time ago: they are out of date.
            if runs {
                lines.extend(minds::in_use(&page).map(|told| ("model", told)));
                lines.extend(minds::offered(&page).into_iter().map(|told| ("offered", told)));
                lines.extend(minds::down(&page).into_iter().map(|told| ("down", told)));
                lines.extend(servers::troubles(&page).into_iter().map(|told| ("mcp", told)));
            }
            lines.push(("budget", budget_line(&page)));
            lines.extend(own_time::line(&page, moments::now()).map(|told| ("own time", told)));
        }
        Err(_) => lines.push(("budget", "nothing is spent yet".into())),
    }
    if let Some(waiting) = number("asks_waiting").filter(|waiting| *waiting > 0) {
        lines.push(("asks", format!("{}: {}", asks::told(waiting), typed("asks"))));
    }
    lines
}

/// Says how much of each cap is spent, and what is wrong with the budget.
pub fn budget_line(budget: &Value) -> String {
    let usd = field::<f64>;
    let caps: &[Value] = field(budget, "caps");
    let spent = caps.iter().map(|cap| {
        let now = match text(cap, "span") {
            "day" => "today".to_owned(),
            span => format!("this {span}"),
        };
        format!("${:.2} of ${:.2} {now}", usd(cap, "spent_usd"), usd(cap, "cap_usd"))
    });
    let mut line = spent.collect::<Vec<_>>().join(", ");
    if line.is_empty() {
        line.push_str("what was spent is not told");
    }
    if let Some(shortest) = caps.first() {
        let (own, share) = (usd(shortest, "autonomous_usd"), usd(shortest, "autonomous_cap_usd"));
        line.push_str(&format!("; on its own ${own:.2} of ${share:.2}"));
    }
    let reserved = usd(budget, "reserved_usd");
    if reserved > 0.0 {
        line.push_str(&format!("; ${reserved:.2} reserved for calls under way"));
    }
    for name in ["warning", "price", "closed", "stopped"] {
        match budget.get(name) {
            Some(Value::String(text)) => line.push_str(&format!("; {name}: {text}")),
            Some(object @ Value::Object(_)) => {
                let (provider, hint) = (text(object, "provider"), text(object, "hint"));
                let status = object.get("status").map(Value::to_string).unwrap_or_default();
                line.push_str(&format!("; {name}: {provider} said {status}; {hint}"));
            }
            _ => {}
        }
    }
    line
}
