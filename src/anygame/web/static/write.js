// The editor: faults are underlined while the user types, and listed below the board of the initial state.
"use strict";

const text = document.getElementById("text");
const marks = document.getElementById("marks");
const checked = document.getElementById("checked");
let asked = 0;
let waiting = 0;

async function check() {
  const mine = ++asked;
  const written = text.value;
  const body = new URLSearchParams({ text: written });
  const response = await fetch("/check?part=1", { method: "POST", body }).catch(() => null);
  if (!response || mine !== asked) return;
  const told = await response.text();
  if (mine !== asked || written !== text.value) return;
  checked.innerHTML = told;
  underline();
  const pause = Number(response.headers.get("Retry-After"));
  if (!pause) return;
  clearTimeout(waiting);
  waiting = setTimeout(check, 1000 * pause);
}

// Put the same text, with its faults underlined, behind the text of the editor.
function underline() {
  const faults = [...checked.querySelectorAll("[data-start]")]
    .map((found) => ({ start: Number(found.dataset.start), end: Number(found.dataset.end), kind: found.classList[1] }))
    .sort((one, other) => one.start - other.start);
  const characters = [...text.value];
  marks.replaceChildren();
  let from = 0;
  for (const { start, end, kind } of faults) {
    if (start < from || end <= start) continue;
    const mark = document.createElement("mark");
    mark.className = kind;
    mark.textContent = characters.slice(start, Math.min(end, start + 400)).join("");
    marks.append(characters.slice(from, start).join(""), mark);
    from = Math.min(end, start + 400);
  }
  marks.append(`${characters.slice(from).join("")}\n`);
  scrolled();
}

function scrolled() {
  marks.scrollTop = text.scrollTop;
  marks.scrollLeft = text.scrollLeft;
}

function mend(edits) {
  // The server counts positions in characters, but strings in JavaScript count some characters twice.
  const characters = [...text.value];
  for (const edit of [...edits].sort((one, other) => other.start - one.start)) {
    characters.splice(edit.start, edit.end - edit.start, ...edit.text);
  }
  text.value = characters.join("");
  text.focus();
  check();
}

function select(found) {
  const characters = [...text.value];
  const start = characters.slice(0, Number(found.dataset.start)).join("").length;
  text.focus();
  text.setSelectionRange(start, start + characters.slice(found.dataset.start, found.dataset.end).join("").length);
  text.scrollTop = (Number(found.dataset.line) - 5) * (text.scrollHeight / text.value.split("\n").length);
}

checked.addEventListener("click", (event) => {
  const button = event.target.closest(".mend");
  if (button) mend(JSON.parse(button.dataset.edits));
  else if (event.target.closest("[data-start]")) select(event.target.closest("[data-start]"));
});
text.addEventListener("input", () => {
  marks.replaceChildren();
  clearTimeout(waiting);
  waiting = setTimeout(check, 350);
});
text.addEventListener("scroll", scrolled);
document.getElementById("check").addEventListener("click", (event) => {
  event.preventDefault();
  check();
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  const file = event.dataTransfer.files[0];
  if (!file) return;
  event.preventDefault();
  text.value = await file.text();
  check();
});
if (checked.querySelector(".check")) underline();
else if (text.value.trim()) check();
