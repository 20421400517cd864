"use strict";
// What came from a screen is put in as text, never as markup.
const $ = (id) => document.getElementById(id);
const screen = $("screen");
let taken = false, asked = null, queue = [], sending = false;

async function post(path, body) {
  const reply = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return reply.ok ? reply.json() : { ok: false };
}

function show(state) {
  $("goal").textContent = state.goal;
  const words = { free: "at work", paused: "paused", taken: "yours: click the screen and work" };
  $("state").textContent = state.over ? state.over : words[state.held];
  $("state").className = state.held === "free" || state.over ? "" : "held";
  $("pause").disabled = Boolean(state.over) || state.held !== "free";
  $("take_over").disabled = Boolean(state.over) || state.held === "taken";
  $("go_on").disabled = Boolean(state.over) || state.held === "free";
  $("go_on").textContent = state.held === "taken" ? "Give back" : "Resume";
  $("stop").disabled = Boolean(state.over);
  taken = state.held === "taken" && !state.over;
  screen.classList.toggle("live", taken);
  ask(state.over ? null : state.asking[0] || null);
}

function ask(question) {
  if ((question && question.id) === (asked && asked.id)) return;
  asked = question;
  const box = $("ask");
  box.hidden = !question;
  box.replaceChildren();
  if (!question) return;
  const words = document.createElement("bdi"), form = document.createElement("form");
  words.textContent = question.question;
  const send = (value) => post("/answer", { id: question.id, value });
  const button = (name, value) => {
    const node = document.createElement("button");
    node.textContent = name;
    node.type = value === undefined ? "submit" : "button";
    if (value !== undefined) node.onclick = () => send(value);
    form.append(node);
  };
  if (question.kind === "consent") {
    button("Allow", true);
    button("Deny", false);
  } else {
    const field = document.createElement("input");
    field.required = true;
    form.append(field);
    button("Answer");
    form.onsubmit = (event) => { event.preventDefault(); send(field.value); };
  }
  box.append(words, form);
}

function step(row) {
  const item = document.createElement("li"), what = document.createElement("bdi"), out = document.createElement("bdi");
  what.textContent = [row.what, row.target].filter(Boolean).join("  ");
  out.textContent = row.outcome;
  out.className = row.mood;
  const time = document.createElement("small");
  time.textContent = `${row.step} `;
  item.append(time, what);
  if (row.outcome) item.append(document.createElement("br"), out);
  $("steps").prepend(item);
}

const events = new EventSource("/events");
events.addEventListener("state", (event) => show(JSON.parse(event.data)));
events.addEventListener("step", (event) => step(JSON.parse(event.data)));
events.addEventListener("end", () => events.close());
screen.src = "/screen";

for (const name of ["pause", "take_over", "go_on", "stop"]) $(name).onclick = () => post("/control", { command: name });

// A person's input, in order: the next batch goes when the last has arrived.
async function flush() {
  if (sending) return;
  sending = true;
  while (queue.length) {
    const batch = queue;
    queue = [];
    await post("/input", { events: batch }).catch(() => {});
  }
  sending = false;
}
function put(event) {
  const last = queue[queue.length - 1];
  if (event.type === "move" && last && last.type === "move") queue.pop();
  queue.push(event);
  flush();
}
function at(event) {
  const box = screen.getBoundingClientRect();
  return {
    x: Math.round(((event.clientX - box.left) / box.width) * screen.naturalWidth),
    y: Math.round(((event.clientY - box.top) / box.height) * screen.naturalHeight),
  };
}
const BUTTONS = ["left", "middle", "right", "back", "forward"];
screen.addEventListener("mousedown", (event) => {
  if (!taken) return;
  event.preventDefault();
  keys.focus();
  put({ type: "press", button: BUTTONS[event.button], ...at(event) });
});
addEventListener("mouseup", (event) => taken && put({ type: "release", button: BUTTONS[event.button], ...at(event) }));
screen.addEventListener("mousemove", (event) => taken && put({ type: "move", ...at(event) }));
screen.addEventListener("contextmenu", (event) => taken && event.preventDefault());
screen.addEventListener("wheel", (event) => {
  if (!taken) return;
  event.preventDefault();
  put({ type: "scroll", down: Math.sign(event.deltaY), right: Math.sign(event.deltaX), ...at(event) });
}, { passive: false });
// Text comes through a field of its own, so that dead keys, input methods and pasting work as anywhere.
const keys = $("keys");
keys.addEventListener("keydown", (event) => {
  if (!taken || event.isComposing || ["Shift", "Control", "Alt", "Meta", "AltGraph", "Dead", "Process"].includes(event.key)) return;
  const held = [event.ctrlKey && "ctrl", event.altKey && "alt", event.metaKey && "super"].filter(Boolean);
  const printing = [...event.key].length === 1;
  if (printing && (!held.length || event.getModifierState("AltGraph"))) return;
  if (held.join() === "ctrl" && event.key === "v") return;
  event.preventDefault();
  put({ type: "keys", names: [...held, ...(event.shiftKey && !printing ? ["shift"] : []), event.key] });
});
keys.addEventListener("input", (event) => {
  if (event.isComposing) return;
  if (taken && keys.value) put({ type: "text", text: keys.value });
  keys.value = "";
});
keys.addEventListener("compositionend", () => {
  if (taken && keys.value) put({ type: "text", text: keys.value });
  keys.value = "";
});
