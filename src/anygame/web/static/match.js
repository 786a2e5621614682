// A match on a page: clicks and keys on the board, and what changes elsewhere as it comes.
// Everything works without this script too, by the buttons of the moves; it only makes it quicker.
"use strict";

const holder = document.getElementById("match");
const address = `/match/${holder.dataset.match}`;
let selected = [];
let waitingSince = Date.now();

const part = () => holder.firstElementChild;
const cellOf = (id) => holder.querySelector(`[role=gridcell][data-id="${CSS.escape(id)}"]`);
const words = (text) => (text || "").split(" ").filter(Boolean);

// -- moves and the cells they are about -----------------------------------------------------------

function moves() {
  return [...holder.querySelectorAll("#moves button[name=move]")].map((button) => ({
    button,
    cells: words(button.dataset.cells),
    area: words(button.dataset.area),
  }));
}

// The moves that the clicked cells may mean: in their order, or else in any.
function meant(cells) {
  const ordered = moves().filter((move) => cells.every((cell, index) => move.cells[index] === cell));
  if (ordered.length) return ordered;
  return moves().filter((move) => cells.every((cell) => move.cells.includes(cell) || move.area.includes(cell)));
}

// Whether nothing about a move is left to say.
function isWhole(move, cells) {
  return move.cells.every((cell) => cells.includes(cell)) && (move.cells.length > 0 || cells.length > 0);
}

// The cells of which a click says more about a move: where it starts, before all others.
function next(move) {
  const left = move.cells.filter((cell) => !selected.includes(cell));
  if (!left.length) return selected.length ? [] : move.area;
  return selected.length ? left : left.slice(0, 1);
}

function light() {
  const found = meant(selected);
  const live = new Set(found.flatMap((move) => next(move)));
  for (const cell of holder.querySelectorAll("[role=gridcell]")) {
    const id = cell.dataset.id;
    cell.classList.toggle("selected", selected.includes(id));
    cell.classList.toggle("live", live.has(id) && !selected.includes(id));
    cell.setAttribute("aria-selected", selected.includes(id));
  }
  for (const move of moves()) {
    move.button.classList.toggle("meant", selected.length > 0 && found.includes(move));
    move.button.classList.toggle("unmeant", selected.length > 0 && !found.includes(move));
  }
}

function click(cell) {
  const id = cell.dataset.id;
  say("");
  if (selected.includes(id)) {
    const whole = meant(selected).filter((move) => isWhole(move, selected));
    if (whole.length === 1) return play(whole[0].button);
    selected = [];
    return light();
  }
  const former = selected;
  selected = [...selected, id];
  let found = meant(selected);
  if (!found.length) {
    if (former.length && meant([id]).length) selected = [id];
    else {
      selected = former;
      whyNot(cell);
      return light();
    }
    found = meant(selected);
  }
  const whole = found.filter((move) => isWhole(move, selected));
  if (whole.length === 1 && found.length === 1) return play(whole[0].button);
  light();
  if (whole.length && whole.length === found.length) {
    say(`There are ${whole.length} moves here: choose one.`);
    whole[0].button.scrollIntoView({ block: "nearest" });
    whole[0].button.focus();
  }
}

async function play(button) {
  const form = new URLSearchParams(new FormData(button.form));
  form.set("move", button.value);
  selected = [];
  holder.classList.add("sent");
  await change(button.form.action, form);
  holder.classList.remove("sent");
}

// -- talking with the server ----------------------------------------------------------------------

async function change(action, form) {
  const response = await fetch(`${action}?part=1`, { method: "POST", body: form }).catch(() => null);
  const text = response ? await response.text() : "";
  if (response && response.ok) {
    show(text);
  } else {
    await refresh();
    if (text) document.getElementById("message").innerHTML = text;
    else say("The server cannot be reached; trying again ...");
  }
}

let asked = 0;
async function refresh(path = location.pathname) {
  const mine = ++asked;
  const response = await fetch(`${path}?part=1`).catch(() => null);
  const text = response && response.ok ? await response.text() : "";
  if (!text || mine !== asked) return;
  if (path !== location.pathname) history.pushState(null, "", path);
  show(text);
}

function show(text) {
  const fresh = document.createElement("div");
  fresh.innerHTML = text;
  const next = fresh.firstElementChild;
  if (!next || !next.classList.contains("match")) return;
  // Answers overtake each other: one that was asked for before a move, and comes after it, is not shown.
  if (Number(next.dataset.version) < Number(part().dataset.version)) return;
  const open = new Map([...holder.querySelectorAll("details[id]")].map((each) => [each.id, each.open]));
  const scrolled = new Map([".log", ".list"].map((each) => [each, holder.querySelector(each)?.scrollTop || 0]));
  const active = document.activeElement;
  const focused = active?.dataset?.id || (active?.closest("#moves") ? "moves" : active?.id);
  const answer = document.getElementById("answer")?.innerHTML || "";
  const kept = document.getElementById("values")?.childNodes;
  const sameState = next.dataset.step === part()?.dataset.step;
  holder.replaceChildren(next);
  for (const each of holder.querySelectorAll("details[id]")) {
    if (open.has(each.id)) each.open = open.get(each.id);
  }
  for (const [each, top] of scrolled) holder.querySelector(each)?.scrollTo(0, top);
  const log = holder.querySelector(".log");
  if (log) log.scrollTop = log.scrollHeight;
  const fresher = document.getElementById("answer");
  if (sameState && fresher) fresher.innerHTML = answer;
  if (analysing && document.getElementById("values")) {
    document.getElementById("values-details").hidden = false;
    document.getElementById("analyse").setAttribute("aria-pressed", "true");
    if (kept) document.getElementById("values").replaceChildren(...kept);
    if (known.size > 1) drawPlot(Number(next.dataset.last));
    if (sameState) warm();
    else analyse();
  }
  showFired();
  if (!sameState) selected = [];
  waitingSince = Date.now();
  start();
  if (focused === "moves") (holder.querySelector("#moves button") || document.getElementById("status"))?.focus();
  else if (focused) (cellOf(focused) || document.getElementById(focused))?.focus();
}

function say(text) {
  const message = document.getElementById("message");
  if (message) message.textContent = text;
}

function listen() {
  const source = new EventSource(`${address}/events?known=${part().dataset.version}`);
  source.addEventListener("changed", (event) => {
    if (event.data !== part().dataset.version) refresh();
  });
  let isLost = false;
  source.addEventListener("error", () => {
    if (!isLost) say("The server cannot be reached; it may have ended.");
    isLost = true;
  });
  source.addEventListener("open", () => {
    if (isLost) say("");
    isLost = false;
  });
}

// -- why not --------------------------------------------------------------------------------------

// What a move on this cell would be: one that is legal, with this cell in the place of its own.
function imagined(cell) {
  const sample = (selected.length ? meant(selected) : moves()).find((move) => move.cells.length > selected.length);
  if (!sample) return null;
  const own = cellOf(sample.cells[selected.length]);
  const text = sample.button.value;
  const at = selected.length ? text.lastIndexOf(own.dataset.terms) : text.indexOf(own.dataset.terms);
  if (at < 0) return null;
  return text.slice(0, at) + cell.dataset.terms + text.slice(at + own.dataset.terms.length);
}

async function whyNot(cell) {
  const form = document.getElementById("why");
  const move = imagined(cell);
  if (!form || !move) return;
  form.elements.move.value = move;
  say(`${move} is not legal here.`);
  await explain(form);
}

async function explain(form) {
  const response = await fetch(`${form.action}?part=1&${new URLSearchParams(new FormData(form))}`).catch(() => null);
  if (!response) return;
  document.getElementById("answer").innerHTML = await response.text();
  document.getElementById("why-details").open = true;
}

async function showFired() {
  const place = document.getElementById("fired");
  const link = place?.querySelector("a");
  if (!link || !document.getElementById("fired-details").open) return;
  const response = await fetch(`${link.getAttribute("href")}?part=1`).catch(() => null);
  if (response && place.isConnected) place.innerHTML = await response.text();
}

// -- values ---------------------------------------------------------------------------------------

let analysing = false;
let analyses = 0;
const known = new Map();

async function values(step, more) {
  const response = await fetch(`${address}/${step}/values?part=1&${more}`).catch(() => null);
  if (!response || !response.ok) return null;
  const fresh = document.createElement("div");
  fresh.innerHTML = await response.text();
  const found = fresh.firstElementChild;
  known.set(Number(step), JSON.parse(found.dataset.goals));
  return found;
}

// Ask again and again, as long as somebody looks: every time the state was searched a little longer.
async function analyse() {
  const mine = ++analyses;
  const step = part().dataset.step;
  for (let round = 0; round < 12; round += 1) {
    const found = await values(step, "seconds=1");
    if (!found || !analysing || mine !== analyses) break;
    document.getElementById("values").replaceChildren(found);
    warm();
    if ("solved" in found.dataset) break;
  }
}

// Colour the cells by the best move that ends there, and write on the buttons what their moves are worth.
function warm() {
  for (const old of holder.querySelectorAll(".heat")) old.remove();
  const worth = new Map();
  const role = holder.querySelector("#moves input[name=role]")?.value;
  for (const row of holder.querySelectorAll("#values [data-goal]")) {
    if (row.dataset.role === role) worth.set(row.dataset.move, Number(row.dataset.goal));
  }
  for (const move of moves()) {
    if (worth.has(move.button.value)) move.button.dataset.goal = worth.get(move.button.value).toFixed(0);
    else delete move.button.dataset.goal;
  }
  const least = Math.min(...worth.values());
  const range = Math.max(...worth.values()) - least;
  const heat = new Map();
  for (const move of moves()) {
    if (!worth.has(move.button.value)) continue;
    const hot = range < 0.5 ? 0.5 : (worth.get(move.button.value) - least) / range;
    for (const cell of move.cells.length ? move.cells.slice(-1) : move.area) {
      heat.set(cell, Math.max(heat.get(cell) || 0, hot));
    }
  }
  for (const [id, hot] of heat) {
    const ground = cellOf(id)?.querySelector("rect, polygon, line");
    if (!ground) continue;
    const layer = ground.cloneNode();
    layer.setAttribute("class", "heat");
    layer.setAttribute("fill-opacity", (0.08 + 0.72 * hot).toFixed(2));
    ground.after(layer);
  }
}

function toggleValues() {
  analysing = !analysing;
  known.clear();
  const details = document.getElementById("values-details");
  details.hidden = !analysing;
  details.open = analysing;
  document.getElementById("analyse").setAttribute("aria-pressed", analysing);
  if (analysing) analyse();
  else {
    document.getElementById("values").replaceChildren();
    warm();
  }
}

// The expected goals of every role, state by state.
async function plot() {
  const last = Number(part().dataset.last);
  for (let step = 0; step <= last && analysing; step += 1) {
    if (!known.has(step)) await values(step, "seconds=0.2&known=1");
    drawPlot(last);
  }
}

function drawPlot(last) {
  const place = document.getElementById("plotted");
  if (!place) return;
  const shape = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const svg = shape("svg", { viewBox: "-24 -6 330 122", role: "img", class: "plot" });
  svg.setAttribute("aria-label", "Expected goals of every role, state by state");
  for (const goal of [0, 50, 100]) {
    svg.append(shape("line", { x1: 0, x2: 300, y1: 100 - goal, y2: 100 - goal, class: "rule" }));
    const label = shape("text", { x: -4, y: 103 - goal, "text-anchor": "end" });
    label.textContent = goal;
    svg.append(label);
  }
  const here = (300 * Number(part().dataset.step)) / Math.max(last, 1);
  svg.append(shape("line", { x1: here, x2: here, y1: 0, y2: 100, class: "here" }));
  [...holder.querySelectorAll(".players tr")].forEach((row) => {
    const role = row.querySelector("th").textContent.trim();
    const points = [...known.entries()]
      .filter(([step, goals]) => step <= last && typeof goals[role] === "number")
      .sort((one, other) => one[0] - other[0])
      .map(([step, goals]) => `${(300 * step) / Math.max(last, 1)},${100 - goals[role]}`);
    const colour = [...row.querySelector(".dot").classList].find((name) => name.startsWith("colour-"));
    if (points.length) svg.append(shape("polyline", { points: points.join(" "), class: `line-${colour}` }));
  });
  place.replaceChildren(svg);
}

// -- keys -----------------------------------------------------------------------------------------

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function middle(cell) {
  const box = cell.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

// The nearest cell in a direction: what lies aside counts twice.
function neighbour(cell, [dx, dy]) {
  const [x, y] = middle(cell);
  let best = null;
  let least = Infinity;
  for (const other of holder.querySelectorAll("[role=gridcell]")) {
    const [u, v] = middle(other);
    const along = (u - x) * dx + (v - y) * dy;
    const aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
    if (along > 2 && along + 2 * aside < least && aside < 1.2 * along + 1) {
      least = along + 2 * aside;
      best = other;
    }
  }
  return best;
}

function focusCell(cell) {
  for (const other of holder.querySelectorAll("[role=gridcell][tabindex='0']")) other.setAttribute("tabindex", "-1");
  cell.setAttribute("tabindex", "0");
  cell.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const cell = event.target.closest("[role=gridcell]");
  if (cell && STEPS[event.key]) {
    const next = neighbour(cell, STEPS[event.key]);
    if (next) focusCell(next);
    event.preventDefault();
  } else if (cell && (event.key === "Enter" || event.key === " ")) {
    click(cell);
    event.preventDefault();
  } else if (event.key === "Escape") {
    selected = [];
    light();
  } else if (event.key === "u") {
    document.getElementById("undo")?.click();
  } else if (event.key === "b") {
    const first = holder.querySelector("[role=gridcell].live") || holder.querySelector("[role=gridcell]");
    if (first) focusCell(first);
  } else if (event.key === "m") {
    holder.querySelector("#moves button")?.focus();
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    holder.querySelector(`.steps a[rel=${event.key === "ArrowLeft" ? "prev" : "next"}]`)?.click();
  }
});

// -- the page -------------------------------------------------------------------------------------

holder.addEventListener("click", (event) => {
  const cell = event.target.closest("[role=gridcell]");
  if (cell) {
    focusCell(cell);
    click(cell);
    return;
  }
  if (event.target.closest("#analyse")) {
    event.preventDefault();
    toggleValues();
    return;
  }
  if (event.target.closest("#plot")) {
    plot();
    return;
  }
  const link = event.target.closest(".steps a, .log a");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    refresh(link.pathname);
  }
});

holder.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id === "moves" && event.submitter) {
    event.preventDefault();
    play(event.submitter);
  } else if (form.action.endsWith("/back")) {
    event.preventDefault();
    selected = [];
    change(form.action, new URLSearchParams());
  } else if (form.id === "why") {
    event.preventDefault();
    explain(form);
  }
});

holder.addEventListener("toggle", (event) => event.target.id === "fired-details" && showFired(), true);
window.addEventListener("popstate", () => refresh());

function start() {
  const cells = [...holder.querySelectorAll("[role=gridcell]")];
  if (cells.length && !cells.some((cell) => cell.getAttribute("tabindex") === "0")) cells[0].setAttribute("tabindex", "0");
  light();
}

setInterval(() => {
  for (const clock of holder.querySelectorAll("[data-clock]")) {
    // Of a match that is played elsewhere, it is told since when the move is waited for.
    const since = clock.dataset.asked ? Math.min(1000 * Number(clock.dataset.asked), waitingSince) : waitingSince;
    const seconds = Math.floor(Number(clock.dataset.clock) + (Date.now() - since) / 1000);
    clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}, 500);

start();
listen();
