// Light and dark: charts take their colours from the style sheet, by the role in their tags.

function paint() {
  const roles = new Map();
  const of = role => roles.get(role) ?? roles.set(role, color(role)).get(role);
  for (const model of models.all) {
    const role = model.tags?.[0]?.role;
    if (role) {
      for (const property of ["line_color", "fill_color", "hatch_color"]) {
        if (property in model.properties && !(role === "range" && property === "line_color")) {
          model[property] = of(role);
        }
      }
    }
    if (role === "range") model.setv({fill_alpha: 0.1, line_color: of("range"), line_alpha: 0.7, line_dash: []});
    if ("major_label_text_color" in model.properties) model.major_label_text_color = of("axis");
    if ("grid_line_color" in model.properties && model.grid_line_color !== null) model.grid_line_color = of("grid");
  }
  drawAttention(attention, payload, color);
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  const dark = name === "dark";
  byId("theme").setAttribute("aria-pressed", String(dark));
  byId("theme").textContent = dark ? "Light" : "Dark";
  if (models) paint();
}
