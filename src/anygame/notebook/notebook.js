// A board in a notebook, where clicks choose as on the page of a match: choosing.js stands before this script.
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

  const moves = () => model.get("view").moves || [];
  const choice = new Choice(moves);
  const send = (content) => {
    choice.clear();
    model.send(content);
  };

  function light() {
    const { selected } = choice;
    const live = choice.live();
    for (const cell of board.querySelectorAll("[role=gridcell]")) {
      const id = cell.dataset.id;
      cell.classList.toggle("selected", selected.includes(id));
      cell.classList.toggle("live", live.has(id) && !selected.includes(id));
    }
    const meant = new Set(choice.meant().map((move) => move.move));
    for (const button of list.children) button.hidden = selected.length > 0 && !meant.has(button.dataset.move);
    frame(board);
  }

  function click(id) {
    const { move } = choice.click(id);
    if (move) send({ move: move.move });
    else light();
  }

  function show() {
    const view = model.get("view");
    choice.clear();
    status.textContent = view.status || "";
    status.classList.toggle("yours", Boolean(view.yours));
    board.innerHTML = view.svg || "";
    for (const fact of view.facts || []) make("div", board, "fact").textContent = fact;
    list.replaceChildren();
    for (const move of moves()) {
      const button = make("button", list, "move");
      button.dataset.move = move.move;
      button.textContent = move.move.replace(/^\((.*)\)$/, "$1");
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
  for (const each of ["focusin", "focusout"]) board.addEventListener(each, () => frame(board));
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
