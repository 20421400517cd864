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
let chosen = -1, shown = "before", film = null, playing = null, urls = {};

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

// The runs of a task one after the other: each may count its seconds from nought.
function clocks() {
  let run = 0, shift = 0, last = 0;
  for (const event of data.events) {
    if (event.run !== run) [run, shift] = [event.run, event.t < last ? last : 0];
    event.at = event.t + shift;
    last = Math.max(last, event.at);
  }
  return last;
}

function timeline() {
  const whole = clocks(), bar = $("time"), drawn = {};
  if (!whole) return;
  data.events.forEach((event, i) => {
    if (!event.took && event.small) return;
    const like = event.kind + event.mood;
    if (event.at - drawn[like] < whole / 3000) return; // nobody could tell it from the one before
    drawn[like] = event.at;
    const part = make("i", undefined, `${event.kind} ${event.mood}`);
    part.style.left = `${(100 * Math.max(0, event.at - event.took)) / whole}%`;
    part.style.width = `${(100 * event.took) / whole}%`;
    part.title = `${event.step} ${event.what || event.kind} · ${seconds(event.at)}`.slice(0, 200);
    part.addEventListener("click", () => choose(i));
    bar.append(part);
  });
  bar.append(make("b"));
  bar.dataset.whole = whole;
  bar.hidden = false;
}

function choose(i, { seek = true } = {}) {
  if (i < 0 || i >= rows.length) return;
  if (chosen >= 0) rows[chosen].removeAttribute("aria-current");
  chosen = i;
  rows[i].setAttribute("aria-current", "true");
  rows[i].scrollIntoView({ block: "nearest" });
  const event = data.events[i];
  if (shown !== "film") shown = event.before ? "before" : "after";
  if ($("time").dataset.whole) $("time").lastChild.style.left = `${(100 * event.at) / $("time").dataset.whole}%`;
  if (seek && film) go(event);
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

// The recording of the event's run, at its moment; what is not recorded leaves the film where it is.
function go(event) {
  const found = data.films.find((each) => each.run === event.run);
  if (!found) return;
  if (found !== playing) {
    playing = found;
    film.src = url(found.name);
  }
  film.currentTime = Math.max(0, event.t - found.from);
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

// The next row that is to be seen.
function step(by) {
  const only = $("steps").classList.contains("only");
  let i = chosen + by;
  while (only && data.events[i]?.small) i += by;
  choose(i);
}

function show(what) {
  if (what === "film" ? !film : !data.events[chosen][what]) return;
  shown = what;
  draw();
}

function start() {
  head();
  list();
  timeline();
  if (data.films.length) {
    film = make("video");
    film.controls = true;
    [playing] = data.films;
    film.src = url(playing.name);
    film.addEventListener("timeupdate", () => {
      if (film.paused) return;
      const now = film.currentTime + playing.from, mine = (event) => event.run === playing.run;
      const i = data.events.findLastIndex((event) => mine(event) && event.t <= now);
      if (i >= 0 && i !== chosen) choose(i, { seek: false });
    });
  }
  $("film").hidden = !film;
  $("prev").onclick = () => step(-1);
  $("next").onclick = () => step(1);
  for (const id of ["before", "after", "film"]) $(id).onclick = () => show(id);
  $("only").onclick = () => {
    const only = $("steps").classList.toggle("only");
    $("only").setAttribute("aria-pressed", String(only));
    rows[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = (name) => (document.documentElement.dataset.theme = name);
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  $("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
      Home: () => choose(0), End: () => choose(rows.length - 1), b: () => show("before"), a: () => show("after"), v: () => show("film"),
      t: () => $("theme").click(), o: () => $("only").click(), " ": () => film && (show("film"), film.paused ? film.play() : film.pause()),
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
