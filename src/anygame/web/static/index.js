// The list of games: a filter, and sheets that are dropped on the page.
"use strict";

const filter = document.getElementById("filter");
filter.closest("label").hidden = false;
filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const item of document.querySelectorAll("#sheets > li")) {
    item.hidden = !item.textContent.toLowerCase().includes(wanted);
  }
});

const text = document.getElementById("text");
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const file = event.dataTransfer.files[0];
  text.value = file ? await file.text() : event.dataTransfer.getData("text");
  text.scrollIntoView();
  text.focus();
});
