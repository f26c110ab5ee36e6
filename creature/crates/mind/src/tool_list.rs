//! What a mind knows of the tools of this life: values, made from the catalogue of tools.

/// One tool, as it is put to a model.
#[derive(Clone, Debug)]
pub struct KnownTool {
    /// With a dot, `family.verb`.
    pub name: &'static str,
    /// Its line in a prompt.
    pub line: String,
    /// As a wire has it, with a name without a dot.
    pub native: model::Tool,
    /// It changes files: papers or the house.
    pub changes_files: bool,
}

/// Every tool there is, in the order of the table: a provider's cache holds them as long as nothing in it changes.
#[derive(Clone, Debug, Default)]
pub struct ToolList(pub Vec<KnownTool>);

impl Default for &'static ToolList {
    /// No tools.
    fn default() -> Self {
        static NONE: ToolList = ToolList(Vec::new());
        &NONE
    }
}

impl ToolList {
    fn that<'a>(&'a self, may: &'a dyn Fn(&str) -> bool) -> impl Iterator<Item = &'a KnownTool> {
        self.0.iter().filter(|tool| may(tool.name))
    }

    /// The tools that `may` be used as a prompt has them, a line each.
    pub fn lines(&self, may: &dyn Fn(&str) -> bool) -> String {
        self.that(may).map(|tool| tool.line.as_str()).collect()
    }

    /// The tools that `may` be used as a wire has them.
    pub fn native(&self, may: &dyn Fn(&str) -> bool) -> Vec<model::Tool> {
        self.that(may).map(|tool| tool.native.clone()).collect()
    }

    /// The tool of this name, with a dot or as a wire has it.
    pub fn by_wire_name(&self, name: &str) -> Option<&KnownTool> {
        self.0.iter().find(|tool| tool.name == name || tool.native.name == name)
    }

    /// The tool of this name, if there is one.
    pub fn known(&self, name: &str) -> Option<&KnownTool> {
        self.0.iter().find(|tool| tool.name == name)
    }

    /// Whether this life has a tool of this name; an earlier life may have had others.
    pub fn exists(&self, name: &str) -> bool {
        self.known(name).is_some()
    }
}
