// What boards on pages of matches and in notebooks share: which moves clicked cells may mean, and frames of cells.
"use strict";

// Draw frames above all cells: around legal ones, those that are chosen, and the one that has the focus. As borders
// of the cells themselves they would be covered half by the neighbours that are drawn later. What sides want lies above
// those of legal cells.
function frame(board) {
  for (const each of board.querySelectorAll(".frame")) each.remove();
  for (const kind of ["live", "selected", "focus-visible"]) {
    const marked = `[role=gridcell]${kind === "focus-visible" ? ":" : "."}${kind}`;
    for (const cell of board.querySelectorAll(marked)) {
      const outline = cell.querySelector(":scope > title + :not(line)")?.cloneNode();
      if (!outline) continue;
      const transform = cell.getAttribute("transform") || "";
      const given = { class: `frame ${kind}`, fill: "none", "pointer-events": "none", "aria-hidden": "true", transform };
      for (const [name, value] of Object.entries(given)) outline.setAttribute(name, value);
      cell.ownerSVGElement.insertBefore(outline, kind === "live" ? board.querySelector(".aim") : null);
    }
  }
}

// A move has cells, in the order in which it names them, and an area, which means it where it names none.
class Choice {
  // `moves` returns the moves of now, each {cells, area}.
  constructor(moves) {
    this.moves = moves;
    this.selected = [];
  }

  clear() {
    this.selected = [];
  }

  // The moves that cells may mean: in their order, or else in any.
  meant(cells = this.selected) {
    const ordered = this.moves().filter((move) => cells.every((cell, index) => move.cells[index] === cell));
    if (ordered.length) return ordered;
    return this.moves().filter((move) => cells.every((cell) => move.cells.includes(cell) || move.area.includes(cell)));
  }

  // The cells of which a click says more about a move: where it starts, before all others.
  live() {
    return new Set(this.meant().flatMap((move) => this.#left(move)));
  }

  // The cells from which something can be moved elsewhere.
  carried() {
    const starts = this.selected.length ? [] : this.meant().filter((move) => move.cells.length > 1);
    return new Set(starts.map((move) => move.cells[0]));
  }

  // Take a click, and return what came of it: {move} to be played, {among} some to be chosen from, {refused}
  // where no move means that cell, or nothing of these.
  click(cell) {
    if (this.selected.includes(cell)) {
      const whole = this.#whole();
      this.clear();
      return whole.length === 1 ? { move: whole[0] } : {};
    }
    const tried = [[...this.selected, cell], [cell]].find((cells) => this.meant(cells).length);
    if (!tried) return { refused: true };
    this.selected = tried;
    const whole = this.#whole();
    if (whole.length < this.meant().length) return {};
    if (whole.length > 1) return { among: whole };
    this.clear();
    return { move: whole[0] };
  }

  // The moves about which nothing is left to say.
  #whole() {
    return this.meant().filter((move) => move.cells.every((cell) => this.selected.includes(cell)));
  }

  #left(move) {
    const left = move.cells.filter((cell) => !this.selected.includes(cell));
    if (!left.length) return this.selected.length ? [] : move.area;
    return this.selected.length ? left : left.slice(0, 1);
  }
}
