"use strict";
// Everything that came from a screen is put in as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const make = (tag, words, cls) => {
  const node = document.createElement(tag);
  if (words !== undefined) node.textContent = words;
  if (cls) node.className = cls;
  return node;
};
const seconds = (t) => `${Math.floor(t / 60)}:${(t % 60).toFixed(1).padStart(4, "0")}`;
const rows = [];
let chosen = -1, shown = "before", film = null, urls = {};

function url(name) {
  if (!(name in data.files)) return null;
  if (!(name in urls)) {
    const [type, text] = data.files[name], raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    urls[name] = URL.createObjectURL(new Blob([bytes], { type }));
  }
  return urls[name];
}

function head() {
  const badge = $("status");
  badge.textContent = data.status;
  badge.classList.add(data.mood);
  $("goal").textContent = data.goal;
  $("result").textContent = data.result;
  for (const [holds, check] of data.checks) $("checks").append(make("li", check, holds ? "good" : "bad"));
  for (const [name, value, mood] of data.facts) {
    const pair = make("div");
    pair.append(make("dt", name), make("dd", value, mood));
    $("facts").append(pair);
  }
}

function list() {
  const all = document.createDocumentFragment();
  data.events.forEach((event, i) => {
    const row = make("li", undefined, `${event.kind} ${event.small ? "small" : ""}`);
    row.tabIndex = -1;
    const what = make("span", undefined, "what");
    const words = make("bdi", event.what || event.kind);
    what.append(words);
    if (event.target) what.append(make("bdi", `  ${event.target}`, "where"));
    if (event.risk === "sensitive") what.append(" ", make("span", event.risk, "risk"));
    row.append(make("span", event.step, "n"), what, make("span", seconds(event.t), "time"));
    if (event.outcome) row.append(make("bdi", event.outcome, `out ${event.mood}`));
    row.addEventListener("click", () => choose(i));
    rows.push(row);
    all.append(row);
  });
  $("steps").append(all);
}

function choose(i, { seek = true } = {}) {
  if (i < 0 || i >= rows.length) return;
  if (chosen >= 0) rows[chosen].removeAttribute("aria-current");
  chosen = i;
  rows[i].setAttribute("aria-current", "true");
  rows[i].scrollIntoView({ block: "nearest" });
  const event = data.events[i];
  if (shown !== "film") shown = event.before ? "before" : "after";
  if (seek && film) film.currentTime = Math.max(0, event.t - data.filmFrom);
  draw();
  const table = $("detail");
  table.replaceChildren();
  for (const [name, value] of event.detail) {
    const row = make("tr"), cell = make("td");
    cell.append(make("bdi", value));
    row.append(make("th", name), cell);
    table.append(row);
  }
  $("raw").textContent = event.raw;
}

function place(stage, [x, y, w, h], cls) {
  const box = make("div", undefined, `box ${cls}`), [width, height] = data.size;
  box.style.left = `${(100 * x) / width}%`;
  box.style.top = `${(100 * y) / height}%`;
  if (w !== undefined) {
    box.style.width = `${(100 * w) / width}%`;
    box.style.height = `${(100 * h) / height}%`;
  }
  stage.append(box);
}

function draw() {
  const event = data.events[chosen], stage = $("stage");
  for (const id of ["before", "after", "film"]) $(id).setAttribute("aria-pressed", String(shown === id));
  $("before").disabled = !event.before;
  $("after").disabled = !event.after;
  if (shown === "film") return stage.replaceChildren(film);
  const source = event[shown] && url(event[shown]);
  if (!source) return stage.replaceChildren(make("div", event[shown] ? "this picture was left out" : "no picture of this step", "none"));
  const picture = make("img");
  picture.src = source;
  picture.alt = `the screen ${shown} this step`;
  stage.replaceChildren(picture);
  if (shown === "before" && event.rect) place(stage, event.rect, "target");
  if (shown === "before" && event.point) place(stage, event.point, "ring");
  if (shown === "after") for (const region of event.regions) place(stage, region, "changed");
}

function show(what) {
  if (what === "film" ? !film : !data.events[chosen][what]) return;
  shown = what;
  draw();
}

function start() {
  head();
  list();
  if ("film" in data.files) {
    film = make("video");
    film.controls = true;
    film.src = url("film");
    film.addEventListener("timeupdate", () => {
      if (film.paused) return;
      const now = film.currentTime + data.filmFrom;
      let i = data.events.findIndex((event) => event.t > now) - 1;
      if (i < -1) i = rows.length - 1;
      if (i >= 0 && i !== chosen) choose(i, { seek: false });
    });
  }
  $("film").hidden = !film;
  $("prev").onclick = () => choose(chosen - 1);
  $("next").onclick = () => choose(chosen + 1);
  for (const id of ["before", "after", "film"]) $(id).onclick = () => show(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = (name) => (document.documentElement.dataset.theme = name);
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  $("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      j: () => choose(chosen + 1), ArrowDown: () => choose(chosen + 1), k: () => choose(chosen - 1), ArrowUp: () => choose(chosen - 1),
      Home: () => choose(0), End: () => choose(rows.length - 1), b: () => show("before"), a: () => show("after"), v: () => show("film"),
      t: () => $("theme").click(), " ": () => film && (show("film"), film.paused ? film.play() : film.pause()),
    };
    if (event.key in keys && !(event.key === " " && event.target.tagName === "BUTTON")) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  const first = data.events.findIndex((event) => event.kind === "action");
  if (rows.length) choose(Math.max(0, first));
}
start();
