// The standings and matches of a command, updated whenever a match begins or ends.
"use strict";

const holder = document.getElementById("broadcast");
let asked = 0;

async function refresh() {
  const mine = ++asked;
  const address = new URL(location.href);
  address.searchParams.set("part", "1");
  const response = await fetch(address).catch(() => null);
  if (!response || !response.ok) return;
  // If only one match is planned, its page is shown as soon as it begins.
  if (response.redirected) location.href = "/";
  const text = await response.text();
  if (mine !== asked) return;
  const fresh = document.createElement("div");
  fresh.innerHTML = text;
  const next = fresh.firstElementChild;
  if (!next || !next.classList.contains("broadcast")) return;
  if (Number(next.dataset.version) >= Number(holder.firstElementChild.dataset.version)) holder.replaceChildren(next);
}

const source = new EventSource(`/events?known=${holder.firstElementChild.dataset.version}`);
source.addEventListener("changed", (event) => {
  if (event.data !== holder.firstElementChild.dataset.version) refresh();
});
