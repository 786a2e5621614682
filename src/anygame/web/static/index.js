// The list of games: filter, and upload of sheets that are dropped on the page.
"use strict";

const filter = document.getElementById("filter");
filter.closest("label").hidden = false;
const noGame = document.getElementById("no-game");

function search() {
  const wanted = filter.value.trim().toLowerCase();
  const items = [...document.querySelectorAll("#sheets > li")];
  for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
  noGame.hidden = items.some((item) => !item.hidden);
}

filter.addEventListener("input", search);
noGame.querySelector("button").addEventListener("click", () => {
  filter.value = "";
  search();
  filter.focus();
});
search();

const text = document.getElementById("text");
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const file = event.dataTransfer.files[0];
  text.value = file ? await file.text() : event.dataTransfer.getData("text");
  text.scrollIntoView();
  text.focus();
});
