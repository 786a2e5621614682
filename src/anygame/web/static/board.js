// Interaction with a board other than moves: flipping, dragging, keyboard, sound, copying links. Used by match.js.
"use strict";

// Settings of this page, for browsers without storage.
const chosen = new Map();
function setting(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    else if (!chosen.has(name)) return localStorage.getItem(name);
  } catch {
    // The browser stores nothing.
  }
  if (value !== undefined) chosen.set(name, value);
  return chosen.get(name) ?? null;
}

// Apply the settings after every change of the page.
function dress() {
  const buttons = { flip: isFlipped(), sound: isSounding() };
  for (const [id, isOn] of Object.entries(buttons)) {
    const button = document.getElementById(id);
    if (!button) continue;
    button.hidden = false;
    button.setAttribute("aria-pressed", isOn);
  }
  for (const each of holder.querySelectorAll("[data-copy]")) each.hidden = false;
  // Without scripts, this is a link to another page.
  document.getElementById("analyse")?.setAttribute("role", "button");
  turn();
}

// -- the other side -------------------------------------------------------------------------------

// Each role of a sheet has its own setting, since a rematch with exchanged seats shows the other side.
const flipping = () => `anygame.flip.${holder.dataset.sheet}.${part().dataset.mine}`;
const isFlipped = () => setting(flipping()) === "yes";

function toggleFlip() {
  if (!holder.querySelector(".boards svg")) return;
  setting(flipping(), isFlipped() ? "no" : "yes");
  dress();
  speak(isFlipped() ? "The board is flipped." : "The board is no longer flipped.");
}

// Rotate the board by 180 degrees, except for the legend. Cells and labels move to the opposite place but stay
// upright. A board on which pieces fall is mirrored instead: left and right are exchanged.
function turn() {
  const svg = holder.querySelector(".boards svg");
  if (!svg) return;
  const upright = [...svg.querySelectorAll("[role=gridcell], :scope > text")];
  const others = [...svg.children].filter(
    (each) => each.getBBox && !upright.includes(each) && !each.matches(".frame, .below, :has([role=gridcell])"),
  );
  const boxes = upright.map((each) => each.getBBox());
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const width = Math.max(...boxes.map((box) => box.x + box.width)) - x;
  const isMirrored = "upright" in holder.querySelector(".boards").dataset;
  const height = Math.max(...boxes.map((box) => box.y + box.height)) - y;
  for (const each of [...upright, ...others]) {
    if (!isFlipped()) {
      if ("turned" in each.dataset) each.removeAttribute("transform");
      delete each.dataset.turned;
    } else if (!each.hasAttribute("transform")) {
      const box = each.getBBox();
      const [u, v] = [2 * x + width - 2 * box.x - box.width, isMirrored ? 0 : 2 * y + height - 2 * box.y - box.height];
      const whole = isMirrored ? `translate(${2 * x + width} 0) scale(-1 1)` : `rotate(180 ${x + width / 2} ${y + height / 2})`;
      each.setAttribute("transform", upright.includes(each) ? `translate(${u} ${v})` : whole);
      each.dataset.turned = "";
    }
  }
  frame(holder);
}

// -- dragging -------------------------------------------------------------------------------------

const FAR = 8;
let held = null;
let isDragged = false;

function grasp(event) {
  isDragged = false;
  const cell = event.target.closest?.("#match [role=gridcell].carried");
  held = cell && event.button === 0 ? { id: cell.dataset.id, x: event.clientX, y: event.clientY } : null;
}

function carry(event) {
  if (!held) return;
  const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
  if (!held.ghost && (Math.hypot(dx, dy) < FAR || !lift())) return;
  const { a, d } = held.ghost.ownerSVGElement.getScreenCTM();
  held.ghost.setAttribute("transform", `translate(${dx / a} ${dy / d})`);
}

// Choose the cell, and drag a copy of the pieces on it.
function lift() {
  const cell = cellOf(held.id);
  if (!cell) return false;
  choice.clear();
  click(cell);
  const shape = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
  held.place = shape("g");
  held.place.setAttribute("class", "ghost");
  held.place.setAttribute("transform", cell.getAttribute("transform") || "translate(0 0)");
  held.ghost = shape("g");
  const things = [...cell.children].filter((each) => each.tagName !== "title" && !each.classList.contains("heat")).slice(1);
  held.ghost.append(...things.map((each) => each.cloneNode(true)));
  held.place.append(held.ghost);
  cell.ownerSVGElement.append(held.place);
  return true;
}

function release(event) {
  const former = held;
  held = null;
  if (!former?.ghost) return;
  former.place.remove();
  isDragged = true;
  setTimeout(() => {
    isDragged = false;
  });
  const below = event.type === "pointerup" && document.elementFromPoint(event.clientX, event.clientY);
  const cell = below && below.closest("#match [role=gridcell]");
  if (cell && cell.dataset.id !== former.id) {
    click(cell);
  } else {
    choice.clear();
    light();
  }
}

document.addEventListener("pointerdown", grasp);
document.addEventListener("pointermove", carry);
document.addEventListener("pointerup", release);
document.addEventListener("pointercancel", release);

// -- sound ----------------------------------------------------------------------------------------

const isSounding = () => setting("anygame.sound") !== "no";
let speaker = null;

function toggleSound() {
  setting("anygame.sound", isSounding() ? "no" : "yes");
  dress();
  sound("move");
}

// Play a tone for a move of another player, and two tones for the end. Browsers allow this only after user input.
function sound(what) {
  if (!isSounding() || !navigator.userActivation?.hasBeenActive) return;
  speaker ??= new AudioContext();
  for (const [number, pitch] of (what === "end" ? [392, 523] : [440]).entries()) {
    const [tone, loudness] = [speaker.createOscillator(), speaker.createGain()];
    const start = speaker.currentTime + 0.16 * number;
    tone.type = "triangle";
    tone.frequency.value = pitch;
    loudness.gain.setValueAtTime(0.12, start);
    loudness.gain.exponentialRampToValueAtTime(0.001, start + 0.15);
    tone.connect(loudness).connect(speaker.destination);
    tone.start(start);
    tone.stop(start + 0.16);
  }
}

// -- links ----------------------------------------------------------------------------------------

async function copy(address) {
  try {
    await navigator.clipboard.writeText(address);
    say("The link has been copied: send it to the person you want to play with.");
  } catch {
    // Pages loaded by plain HTTP from another machine have no access to the clipboard.
    window.prompt("Copy this link and send it:", address);
  }
}

// -- keys -----------------------------------------------------------------------------------------

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function middle(cell) {
  const box = cell.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

// Return the nearest cell in a direction. The distance perpendicular to the direction counts twice.
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
  } else if (event.target.id === "analyse" && event.key === " ") {
    toggleValues();
    event.preventDefault();
  } else if (event.key === "Escape") {
    choice.clear();
    light();
  } else if (event.key === "u") {
    const undo = document.getElementById("undo");
    if (undo) undo.click();
    else if (part().dataset.noUndo) say(`No move was taken back: ${part().dataset.noUndo}.`);
  } else if (event.key === "f") {
    toggleFlip();
  } else if (event.key === "r") {
    document.getElementById("rematch")?.click();
  } else if (event.key === "b") {
    const first = holder.querySelector("[role=gridcell].live") || holder.querySelector("[role=gridcell]");
    if (first) focusCell(first);
  } else if (event.key === "m") {
    holder.querySelector("#moves button")?.focus();
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    holder.querySelector(`.steps a[rel=${event.key === "ArrowLeft" ? "prev" : "next"}]`)?.click();
  }
});

