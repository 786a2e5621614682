// Values of moves: heat map on the board, bar below it, and plot of the match. Used by match.js.
"use strict";

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

// Request the values repeatedly while they are shown. Each request continues the search of the state.
async function analyse() {
  const mine = ++analyses;
  const step = part().dataset.step;
  for (let round = 0; round < 12; round += 1) {
    const found = await values(step, "seconds=1");
    if (!found || !analysing || mine !== analyses) break;
    document.getElementById("values").replaceChildren(found);
    measure();
    warm();
    drawBar(known.get(Number(step)));
    if ("solved" in found.dataset) break;
  }
}

// Draw the share of each role in the sum of expected goals; for a single role, its share of the highest goal.
function drawBar(goals) {
  const bar = document.getElementById("worth");
  const roles = [...holder.querySelectorAll(".players tr")]
    .map((row) => [row.dataset.role, [...row.querySelector(".dot").classList].find((name) => name.startsWith("colour-"))])
    .filter(([role]) => typeof goals[role] === "number" && role !== "random");
  const sum = roles.length > 1 ? roles.reduce((total, [role]) => total + goals[role], 0) : 100;
  bar.replaceChildren();
  bar.toggleAttribute("hidden", !roles.length);
  bar.setAttribute("aria-label", `Expected goals: ${roles.map(([role]) => `${role} ${goals[role].toFixed(0)}`).join(", ")}`);
  let x = 0;
  for (const [role, colour] of roles) {
    const width = sum > 0 ? (100 * goals[role]) / sum : 100 / roles.length;
    const share = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const shape = { x1: x, x2: x + width, y1: 2, y2: 2, class: `line-${colour}` };
    for (const [key, value] of Object.entries(shape)) share.setAttribute(key, value);
    bar.append(share);
    x += width;
  }
}

// Colour each cell by the best move that ends there, and show the values on the buttons of the moves.
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
    document.getElementById("worth").setAttribute("hidden", "");
    warm();
  }
}

// Plot the expected goals of every role, state by state.
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
    const role = row.dataset.role;
    const points = [...known.entries()]
      .filter(([step, goals]) => step <= last && typeof goals[role] === "number")
      .sort((one, other) => one[0] - other[0])
      .map(([step, goals]) => `${(300 * step) / Math.max(last, 1)},${100 - goals[role]}`);
    const colour = [...row.querySelector(".dot").classList].find((name) => name.startsWith("colour-"));
    if (points.length) svg.append(shape("polyline", { points: points.join(" "), class: `line-${colour}` }));
  });
  place.replaceChildren(svg);
}

