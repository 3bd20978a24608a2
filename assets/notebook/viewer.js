// The viewer's part in the page: what the mouse and the keys do goes to Python as messages, pictures come back. One
// question at a time: what is done while a picture is drawn waits in its order, and what is of one kind adds up.

const DRAWING = "Drawing; kernels are compiled when they are first used.";
const PATIENCE_MS = 700;

const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

function render({ model, el }) {
  const picture = element("img", { alt: model.get("title"), tabIndex: 0, draggable: false });
  const choices = (name, label, key) =>
    element("select", { title: label, onchange: (event) => ask({ kind: "choose", [key]: event.target.value }) },
      ...model.get(name).map((text) => element("option", { value: text, textContent: text })));
  const structure = choices("structures", "Structure", "structure");
  const rayType = choices("ray_types", "Ray type", "ray_type");
  const duration = model.get("duration");
  const time = element("input", { type: "range", min: 0, max: duration, step: "any", value: 0, title: "Time in seconds" });
  const play = element("button", { textContent: "Play", type: "button" });
  const home = element("button", { textContent: "Reset", type: "button", title: "The first view" });
  const table = element("table", {});
  const said = element("p", { className: "said" });
  said.setAttribute("role", "status");
  const bar = element("div", { className: "bar" }, structure, rayType, home, ...(duration > 0 ? [play, time] : []));
  el.classList.add("raygrove-viewer");
  el.append(element("div", { className: "shown" }, picture, table), bar, said);
  picture.style.aspectRatio = `${model.get("width")} / ${model.get("height")}`;
  picture.style.width = `${model.get("width")}px`;
  picture.style.visibility = "hidden"; // until there is one
  structure.value = model.get("structure");
  rayType.value = model.get("ray_type");

  let isBusy = false;
  const waiting = [];
  let address = "";
  let still = 0;
  let late = 0;
  let started = null;

  const added = (first, second) => ({
    ...first, ...second, across: (first.across ?? 0) + (second.across ?? 0), down: (first.down ?? 0) + (second.down ?? 0),
    notches: (first.notches ?? 0) + (second.notches ?? 0),
  });
  const ask = (message) => {
    if (isBusy) {
      if (message.moving && waiting.at(-1)?.kind === "still") waiting.pop();
      const last = waiting.at(-1);
      if (last?.kind === message.kind) waiting[waiting.length - 1] = added(last, message);
      else waiting.push(message);
      return;
    }
    isBusy = true;
    late = setTimeout(() => { said.textContent = DRAWING; }, address === "" ? 0 : PATIENCE_MS);
    model.send(message);
  };
  const moved = (message) => {
    ask({ ...message, moving: true });
    clearTimeout(still);
    still = setTimeout(() => ask({ kind: "still" }), 250);
  };

  const onMessage = (message, buffers) => {
    if (message.kind !== "picture") return;
    clearTimeout(late);
    const bytes = buffers[0] instanceof DataView ? buffers[0] : new DataView(buffers[0].buffer ?? buffers[0]);
    const next = URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" }));
    picture.src = next;
    URL.revokeObjectURL(address);
    address = next;
    picture.style.visibility = "visible";
    structure.value = message.structure;
    rayType.value = message.ray_type;
    said.textContent = message.said;
    table.replaceChildren(...message.statistics.map(([name, value]) =>
      element("tr", {}, element("th", { textContent: name }), element("td", { textContent: value }))));
    isBusy = false;
    if (waiting.length > 0) ask(waiting.shift());
  };
  model.on("msg:custom", onMessage);

  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    picture.focus({ preventScroll: true });
  });
  picture.addEventListener("pointermove", (event) => {
    if (event.buttons === 0) return;
    const height = picture.clientHeight || 1;
    const kind = event.buttons !== 1 || event.shiftKey ? "pan" : "orbit";
    moved({ kind, across: event.movementX / height, down: event.movementY / height });
  });
  picture.addEventListener("contextmenu", (event) => event.preventDefault());
  picture.addEventListener("wheel", (event) => {
    if (document.activeElement !== picture && el.getRootNode().activeElement !== picture) return;
    event.preventDefault();
    moved({ kind: "zoom", notches: -Math.sign(event.deltaY) });
  }, { passive: false });
  const keys = { ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, -0.05], ArrowDown: [0, 0.05] };
  picture.addEventListener("keydown", (event) => {
    if (event.key in keys) moved({ kind: event.shiftKey ? "pan" : "orbit", across: keys[event.key][0], down: keys[event.key][1] });
    else if (event.key === "+" || event.key === "-") moved({ kind: "zoom", notches: event.key === "+" ? 1 : -1 });
    else if (event.key === "0") ask({ kind: "reset" });
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  home.addEventListener("click", () => ask({ kind: "reset" }));
  time.addEventListener("input", () => moved({ kind: "time", time: Number(time.value) }));
  const step = (now) => {
    if (started === null) return;
    time.value = ((now - started) / 1000) % duration;
    if (!isBusy) ask({ kind: "time", time: Number(time.value), moving: true });
    requestAnimationFrame(step);
  };
  play.addEventListener("click", () => {
    started = started === null ? performance.now() - 1000 * Number(time.value) : null;
    play.textContent = started === null ? "Play" : "Pause";
    if (started !== null) requestAnimationFrame(step);
    else ask({ kind: "still" });
  });

  ask({ kind: "still" });
  return () => {
    started = null;
    clearTimeout(still);
    clearTimeout(late);
    model.off("msg:custom", onMessage);
    URL.revokeObjectURL(address);
  };
}

export default { render };
