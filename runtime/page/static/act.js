// Forms that begin commands: the program names the command and its cost first, a person confirms.

const dialog = document.getElementById("confirm");
const activity = document.getElementById("activity");
const trouble = document.getElementById("trouble");

/** @param {string} text */
function say(text) {
  if (trouble === null) return;
  trouble.textContent = text;
  trouble.hidden = text === "";
}

/** @param {HTMLFormElement} form @returns {Record<string, string>} */
function fieldsOf(form) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const [name, value] of new FormData(form)) if (typeof value === "string") fields[name] = value;
  return fields;
}

/** @param {string} action @param {Record<string, string>} fields @param {string} confirmed */
async function ask(action, fields, confirmed) {
  const answer = await fetch(`/actions/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-dga2d-act": "1" },
    body: JSON.stringify({ fields, confirmed }),
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

/** @param {HTMLFormElement} form */
async function propose(form) {
  const action = form.dataset.action ?? "";
  const fields = fieldsOf(form);
  try {
    const told = await ask(action, fields, "");
    say("");
    if (!(await confirmed(told))) return;
    if (action === "evolve" || action === "fork") fields.run = told.run; // the fresh name that was shown
    await ask(action, fields, told.command);
    await refresh();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

/** @param {{command: string, estimate: string[], costs_money: boolean}} told @returns {Promise<boolean>} */
function confirmed(told) {
  if (!(dialog instanceof HTMLDialogElement)) return Promise.resolve(false);
  const part = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  const box = /** @type {HTMLInputElement} */ (part("confirm-costs").querySelector("input"));
  const yes = /** @type {HTMLButtonElement} */ (part("confirm-yes"));
  part("confirm-command").textContent = told.command;
  part("confirm-estimate").replaceChildren(
    ...told.estimate.map((line) => Object.assign(document.createElement("li"), { textContent: line })),
  );
  part("confirm-costs").hidden = !told.costs_money;
  box.checked = false;
  yes.disabled = told.costs_money;
  box.onchange = () => { yes.disabled = told.costs_money && !box.checked; };
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
    yes.onclick = () => dialog.close("yes");
    part("confirm-no").onclick = () => dialog.close("no");
    dialog.oncancel = () => { dialog.returnValue = "no"; };
  });
}

async function refresh() {
  if (activity === null) return;
  const answer = await fetch("/activity");
  if (!answer.ok) return;
  const open = new Set([...activity.querySelectorAll("details[open]")].map((one) => one.id));
  activity.innerHTML = await answer.text();
  for (const one of activity.querySelectorAll("details")) one.open = open.has(one.id);
  if ([...activity.querySelectorAll(".standing")].some((one) => one.textContent === "under way")) setTimeout(refresh, 1000);
}

for (const form of document.querySelectorAll("form[data-action]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form instanceof HTMLFormElement) void propose(form);
  });
}

// What is taken or forked at the slider follows it.
const slider = document.getElementById("slider");
const acting = document.getElementById("acting");
function follow() {
  if (!(slider instanceof HTMLInputElement)) return;
  for (const link of document.querySelectorAll("a[data-at-slider]")) {
    const path = (link.getAttribute("href") ?? "").split("?")[0];
    link.setAttribute("href", `${path}?seq=${slider.value}`);
  }
  const marks = [...document.querySelectorAll("#marks option")].map((one) => Number(/** @type {HTMLOptionElement} */ (one).value));
  const box = document.querySelector("input[data-generation]");
  if (box instanceof HTMLInputElement) box.value = String(marks.filter((mark) => mark <= Number(slider.value)).length);
}
acting?.addEventListener("toggle", follow);
slider?.addEventListener("input", follow);
new MutationObserver(follow).observe(document.getElementById("seq") ?? document.createElement("p"), { childList: true });
void refresh();
