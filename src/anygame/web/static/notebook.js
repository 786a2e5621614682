// A board in a notebook: clicks on cells choose among the moves that name them, as on the page of a match.
function render({ model, el }) {
  const make = (name, parent, className) => {
    const made = document.createElement(name);
    made.className = className;
    parent.append(made);
    return made;
  };
  const root = make("div", el, "anygame-board");
  const status = make("p", root, "status");
  status.setAttribute("role", "status");
  const columns = make("div", root, "columns");
  const board = make("div", columns, "boards");
  const list = make("div", columns, "list");
  const foot = make("p", root, "foot");
  let selected = [];

  const moves = () => model.get("view").moves || [];
  // The moves that the clicked cells may mean: in their order, or else in any.
  const meant = (cells) => {
    const ordered = moves().filter((move) => cells.every((cell, index) => move.cells[index] === cell));
    if (ordered.length) return ordered;
    return moves().filter((move) => cells.every((cell) => move.cells.includes(cell) || move.area.includes(cell)));
  };
  const send = (content) => {
    selected = [];
    model.send(content);
  };

  function light() {
    const found = meant(selected);
    const live = new Set(
      found.flatMap((move) => {
        const left = move.cells.filter((cell) => !selected.includes(cell));
        return left.length ? (selected.length ? left : left.slice(0, 1)) : selected.length ? [] : move.area;
      }),
    );
    for (const cell of board.querySelectorAll("[role=gridcell]")) {
      cell.classList.toggle("selected", selected.includes(cell.dataset.id));
      cell.classList.toggle("live", live.has(cell.dataset.id));
    }
    for (const button of list.children) {
      button.hidden = selected.length > 0 && !found.some((move) => move.move === button.textContent);
    }
  }

  function click(id) {
    const again = selected.includes(id);
    let cells = again ? selected : [...selected, id];
    if (!meant(cells).length) cells = meant([id]).length ? [id] : [];
    const whole = meant(cells).filter((move) => move.cells.every((cell) => cells.includes(cell)));
    if (cells.length && whole.length === 1 && (again || meant(cells).length === 1)) return send({ move: whole[0].move });
    selected = again ? [] : cells;
    light();
  }

  function show() {
    const view = model.get("view");
    selected = [];
    status.textContent = view.status || "";
    status.classList.toggle("yours", Boolean(view.yours));
    board.innerHTML = view.svg || "";
    for (const fact of view.facts || []) make("div", board, "fact").textContent = fact;
    list.replaceChildren();
    for (const move of moves()) {
      const button = make("button", list, "move");
      button.textContent = move.move;
      button.addEventListener("click", () => send({ move: move.move }));
    }
    foot.replaceChildren();
    if (view.last) make("span", foot, "last").textContent = `Last: ${view.last} `;
    if (view.back) {
      const button = make("button", foot, "back");
      button.textContent = "Take back";
      button.addEventListener("click", () => send({ back: true }));
    }
    for (const cell of board.querySelectorAll("[role=gridcell]")) cell.setAttribute("tabindex", "0");
    light();
  }

  board.addEventListener("click", (event) => {
    const cell = event.target.closest("[role=gridcell]");
    if (cell) click(cell.dataset.id);
  });
  board.addEventListener("keydown", (event) => {
    const cell = event.target.closest("[role=gridcell]");
    if (!cell || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    click(cell.dataset.id);
  });
  model.on("change:view", show);
  show();
  return () => model.off("change:view", show);
}

export default { render };
