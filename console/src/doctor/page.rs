//! The doctor's findings about the page beyond this machine, as its own program tells them.

use super::finding::{Finding, Grade};
use crate::page::beyond::program;
use house::records::text;
use house::{House, bounds, settings};
use processes::trusted;
use serde_json::Value;

pub fn findings(house: &House) -> Vec<Finding> {
    let Some(listen) = settings::whole(house).ok().and_then(|settings| settings.page.listen) else {
        return Vec::new();
    };
    let odd = |found: String, mend: &'static str| vec![Finding::new(Grade::Odd, "page", found, mend)];
    let Some(program) = program() else {
        let mend =
            "start the guardian, which builds it; why it does not build: .self/log/phone-page-build.log";
        return odd(format!("it is to listen at {listen}; its program is not built yet"), mend);
    };
    let said = trusted::output(&program, &["check"]).ok().and_then(|said| bounds::read(&said.stdout));
    let Some(Value::Array(told)) = said else {
        return odd(format!("{} says nothing of it", program.display()), "cargo build -p phone-page");
    };
    let finding = |told: &Value| {
        let grades = [Grade::Good, Grade::Odd, Grade::Bad];
        let grade =
            grades.into_iter().find(|grade| grade.word() == text(told, "grade")).unwrap_or(Grade::Odd);
        Finding::new(grade, "page", text(told, "found"), text(told, "mend").to_owned())
    };
    told.iter().map(finding).collect()
}
