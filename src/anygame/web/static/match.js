// The page of a match: clicks on the board, and live updates. Without scripts, the buttons of the moves work, too.
"use strict";

const holder = document.getElementById("match");
const address = `/match/${holder.dataset.match}`;
// The choice of a move by clicks on cells (choosing.js).
const choice = new Choice(moves);
let waitingSince = Date.now();
// Whether the next move that arrives is the visitor's own.
let isMine = false;

const part = () => holder.firstElementChild;
const cellOf = (id) => holder.querySelector(`[role=gridcell][data-id="${CSS.escape(id)}"]`);
const words = (text) => (text || "").split(" ").filter(Boolean);

// -- moves and their cells ------------------------------------------------------------------------

function moves() {
  return [...holder.querySelectorAll("#moves button[name=move]")].map((button) => ({
    button,
    cells: words(button.dataset.cells),
    area: words(button.dataset.area),
  }));
}

function light() {
  const { selected } = choice;
  const live = choice.live();
  const carried = choice.carried();
  const cells = holder.querySelectorAll("[role=gridcell]");
  // If most cells are legal, only the cell below the pointer is marked.
  holder.classList.toggle("calm", !selected.length && 2 * live.size > cells.length);
  for (const cell of cells) {
    const id = cell.dataset.id;
    const isLive = live.has(id) && !selected.includes(id);
    cell.classList.toggle("selected", selected.includes(id));
    cell.classList.toggle("live", isLive);
    cell.classList.toggle("carried", carried.has(id));
    cell.setAttribute("aria-selected", selected.includes(id));
    cell.dataset.name ??= cell.getAttribute("aria-label");
    const more = selected.includes(id) ? ", chosen" : carried.has(id) ? ", can move" : isLive ? ", legal move" : "";
    cell.setAttribute("aria-label", `${cell.dataset.name}${more}`);
  }
  const buttons = new Set(choice.meant().map((move) => move.button));
  for (const button of holder.querySelectorAll("#moves button[name=move]")) {
    button.classList.toggle("meant", selected.length > 0 && buttons.has(button));
    button.classList.toggle("unmeant", selected.length > 0 && !buttons.has(button));
  }
  frame(holder);
}

function click(cell) {
  say("");
  const from = choice.selected.length ? cellOf(choice.selected[0]) : null;
  const { move, among, refused } = choice.click(cell.dataset.id);
  if (move) return play(move.button);
  if (refused) refuse(cell, from);
  light();
  if (among) {
    say(`There are ${among.length} moves here: choose one of them.`);
    among[0].button.scrollIntoView({ block: "nearest" });
    among[0].button.focus();
  }
}

async function play(button) {
  const form = new URLSearchParams(new FormData(button.form));
  form.set("move", button.value);
  choice.clear();
  isMine = true;
  holder.classList.add("sent");
  await change(button.form.action, form);
  holder.classList.remove("sent");
}

// -- requests to the server -----------------------------------------------------------------------

async function change(action, form) {
  const response = await fetch(`${action}?part=1`, { method: "POST", body: form }).catch(() => null);
  const text = response ? await response.text() : "";
  if (response && response.ok) {
    say("");
    show(text);
  } else {
    await refresh();
    if (text) document.getElementById("message").innerHTML = text;
    else say("The server cannot be reached: try again.");
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
  // Responses can arrive out of order: older versions are ignored.
  if (Number(next.dataset.version) < Number(part().dataset.version)) return;
  const open = new Map([...holder.querySelectorAll("details[id]")].map((each) => [each.id, each.open]));
  const scrolled = new Map([".log", ".list"].map((each) => [each, holder.querySelector(each)?.scrollTop || 0]));
  const active = document.activeElement;
  const focused = active?.dataset?.id || (active?.closest("#moves") ? "moves" : active?.id);
  const answer = document.getElementById("answer")?.innerHTML || "";
  const message = document.getElementById("message");
  const kept = document.getElementById("values")?.childNodes;
  const sameState = next.dataset.step === part()?.dataset.step;
  const former = part().dataset;
  holder.replaceChildren(next);
  for (const each of holder.querySelectorAll("details[id]")) {
    if (open.has(each.id)) each.open = open.get(each.id);
  }
  for (const [each, top] of scrolled) holder.querySelector(each)?.scrollTo(0, top);
  const log = holder.querySelector(".log");
  if (log) log.scrollTop = log.scrollHeight;
  const fresher = document.getElementById("answer");
  if (sameState && fresher) fresher.innerHTML = answer;
  if (sameState && message) document.getElementById("message").replaceWith(message);
  if (analysing && document.getElementById("values")) {
    document.getElementById("values-details").hidden = false;
    document.getElementById("analyse").setAttribute("aria-pressed", "true");
    if (kept) document.getElementById("values").replaceChildren(...kept);
    if (known.size > 1) drawPlot(Number(next.dataset.last));
    if (known.has(Number(next.dataset.step))) drawBar(known.get(Number(next.dataset.step)));
    if (sameState) warm();
    else analyse();
  }
  for (const name of LATER) fill(name);
  tell(former, next.dataset);
  if (!sameState) choice.clear();
  waitingSince = Date.now();
  start();
  if (focused === "moves") (holder.querySelector("#moves button") || document.getElementById("status"))?.focus();
  else if (focused) (cellOf(focused) || document.getElementById(focused))?.focus();
}

// Announce a change of the match to screen readers, and by sound.
function tell(former, now) {
  if (!("live" in now) || former.spoken === now.spoken) return;
  speak(now.spoken);
  if ("over" in now && !("over" in former)) sound("end");
  else if (former.last !== now.last && !isMine) sound("move");
  isMine = false;
}

function speak(text) {
  document.getElementById("spoken").textContent = text;
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

// Return the move that a click on this cell would mean: a legal move with its cell replaced by this cell.
function imagined(cell) {
  const { selected } = choice;
  const sample = choice.meant().find((move) => move.cells.length > selected.length);
  if (!sample) return null;
  const own = cellOf(sample.cells[selected.length]);
  const text = sample.button.value;
  const at = selected.length ? text.lastIndexOf(own.dataset.terms) : text.indexOf(own.dataset.terms);
  if (at < 0) return null;
  return text.slice(0, at) + cell.dataset.terms + text.slice(at + own.dataset.terms.length);
}

// Report that a click makes no move, and offer an explanation by the rules.
function refuse(cell, from) {
  if (!moves().length) return;
  const name = (one) => one.dataset.terms || "this place";
  say(from ? `You cannot move from ${name(from)} to ${name(cell)} now.` : `You have no move at ${name(cell)} now.`);
  const form = document.getElementById("why");
  const move = form && imagined(cell);
  if (!move) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Why?";
  button.addEventListener("click", () => {
    form.elements.move.value = move;
    explain(form);
  });
  document.getElementById("message").append(" ", button);
}

async function explain(form) {
  const response = await fetch(`${form.action}?part=1&${new URLSearchParams(new FormData(form))}`).catch(() => null);
  if (!response) return;
  document.getElementById("answer").innerHTML = await response.text();
  const details = document.getElementById("why-details");
  details.open = true;
  details.scrollIntoView({ block: "nearest" });
}

// Details that are loaded only when they are opened.
const LATER = ["fired", "rules"];

async function fill(name) {
  const place = document.getElementById(name);
  const link = place?.querySelector("a");
  if (!link || !document.getElementById(`${name}-details`).open) return;
  const response = await fetch(`${link.getAttribute("href")}?part=1`).catch(() => null);
  if (response && place.isConnected) place.innerHTML = await response.text();
}

// -- lists that must be scrolled ------------------------------------------------------------------

function measure() {
  for (const each of holder.querySelectorAll(".list, .log, #values")) {
    const hidden = each.scrollHeight - each.clientHeight - each.scrollTop;
    each.classList.toggle("continued", hidden > 8);
  }
}

holder.addEventListener("scroll", measure, true);
window.addEventListener("resize", measure);

// -- the page -------------------------------------------------------------------------------------

holder.addEventListener("click", (event) => {
  if (isDragged) return;
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
  if (event.target.closest("#flip")) {
    toggleFlip();
    return;
  }
  if (event.target.closest("#sound")) {
    toggleSound();
    return;
  }
  const copied = event.target.closest("[data-copy]");
  if (copied) {
    copy(new URL(copied.dataset.copy, location.href).href);
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

for (const each of ["focusin", "focusout"]) holder.addEventListener(each, () => frame(holder));

holder.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id === "moves" && event.submitter) {
    event.preventDefault();
    play(event.submitter);
  } else if (form.action.endsWith("/back") || form.action.endsWith("/resign")) {
    event.preventDefault();
    choice.clear();
    change(form.action, new URLSearchParams(new FormData(form, event.submitter)));
  } else if (form.id === "why") {
    event.preventDefault();
    explain(form);
  }
});

holder.addEventListener("toggle", measure, true);
holder.addEventListener("toggle", (event) => LATER.forEach((name) => event.target.id === `${name}-details` && fill(name)), true);
window.addEventListener("popstate", () => refresh());

function start() {
  const cells = [...holder.querySelectorAll("[role=gridcell]")];
  if (cells.length && !cells.some((cell) => cell.getAttribute("tabindex") === "0")) cells[0].setAttribute("tabindex", "0");
  light();
  dress();
  measure();
}

setInterval(() => {
  for (const clock of holder.querySelectorAll("[data-clock]")) {
    // For a match that is played elsewhere, the server sends the start of the turn.
    const since = clock.dataset.asked ? Math.min(1000 * Number(clock.dataset.asked), waitingSince) : waitingSince;
    const passed = (Date.now() - since) / 1000;
    const falls = "falls" in clock.dataset;
    const seconds = Math.floor(Math.max(0, Number(clock.dataset.clock) + (falls ? -passed : passed)));
    clock.classList.toggle("urgent", falls && seconds < 10);
    clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}, 500);

start();
listen();
speak(part().dataset.spoken);
