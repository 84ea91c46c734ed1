// The page: asks, disguises here, shows what will be sent, and sends only that.
"use strict";

const $ = (id) => document.getElementById(id);
let design = null;
let report = null;

function element(name, text, more = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, more);
}

function question(name) {
  return design.questions.find((q) => q.name === name);
}

// What was reported is remembered in this browser; for this visit where it may not be.
const visit = new Map();

function recalled(key) {
  try {
    return localStorage.getItem(key) ?? visit.get(key) ?? null;
  } catch {
    return visit.get(key) ?? null;
  }
}

function keep(key, value) {
  visit.set(key, value);
  try {
    localStorage.setItem(key, value);
  } catch {
    // private windows and full disks: this visit must do
  }
}

// Asking -----------------------------------------------------------------------------

function field(q, number) {
  const box = element("fieldset");
  box.append(element("legend", q.ask));
  if (q.edges !== null) {
    box.append(
      element("input", undefined, {
        type: "number", step: "any", name: `q${number}`, required: true,
        ariaLabel: q.ask,
      }),
    );
    return box;
  }
  q.values.forEach((value, code) => {
    const label = element("label");
    label.append(
      element("input", undefined, {
        type: "radio", name: `q${number}`, value: String(code), required: true,
      }),
      ` ${value}`,
    );
    box.append(label);
  });
  return box;
}

// With one_of, each person is asked one group, drawn here.
function asked() {
  if (!design.one_of) return design.groups;
  const key = `privet:${design.survey}:asked`;
  let drawn = Number(recalled(key) ?? NaN);
  if (!Number.isInteger(drawn) || drawn >= design.groups.length) {
    drawn = Number(below(BigInt(design.groups.length)));
    keep(key, String(drawn));
  }
  return [design.groups[drawn]];
}

function show() {
  document.title = design.title;
  $("title").textContent = design.title;
  const names = new Set(asked().flatMap((g) => g.columns));
  design.questions.forEach((q, i) => {
    if (names.has(q.name)) $("questions").append(field(q, i));
  });
  $("form").hidden = false;
}

// Disguising -------------------------------------------------------------------------

function code(q, number) {
  const given = new FormData($("form")).get(`q${number}`);
  if (q.edges === null) return Number(given);
  return q.edges.filter((edge) => Number(given) >= edge).length;
}

// The same answer is always reported the same way: asking again reveals no more.
function remembered(group, codes, sizes) {
  const key = `privet:${design.survey}:${JSON.stringify([group.columns, codes])}`;
  const known = recalled(key);
  if (known !== null) return JSON.parse(known);
  const drawn = disguised(group, codes, sizes);
  keep(key, JSON.stringify(drawn));
  return drawn;
}

function disguise() {
  const made = Object.fromEntries(design.questions.map((q) => [q.name, null]));
  for (const group of asked()) {
    const questions = group.columns.map(question);
    const sizes = questions.map((q) => q.values.length);
    const codes = questions.map((q) => code(q, design.questions.indexOf(q)));
    remembered(group, codes, sizes).forEach((c, i) => {
      made[group.columns[i]] = questions[i].values[c];
    });
  }
  return made;
}

function meaning(group) {
  const names = group.columns.map((c) => question(c).ask).join(" / ");
  if (group.kind === "public") return `${names}: sent as it is.`;
  if (group.growth === null) {
    return `${names}: disguised, but something about it can be told for certain.`;
  }
  const times = Number(group.growth.toPrecision(3));
  const sure = times > 10 ? "may be nearly sure" : "cannot be sure";
  return (
    `${names}: disguised by chance. Whoever sees it may shift the odds by a factor ` +
    `of ${times} at most, and ${sure} what you answered.`
  );
}

function preview() {
  const rows = Object.entries(report).filter(([, value]) => value !== null);
  $("sent").replaceChildren(
    ...rows.flatMap(([name, value]) => [
      element("dt", question(name).ask), element("dd", value),
    ]),
  );
  $("meaning").replaceChildren(
    ...asked().map((group) => element("li", meaning(group))),
  );
  $("form").hidden = true;
  $("preview").hidden = false;
}

// Sending ----------------------------------------------------------------------------

async function send() {
  $("send").disabled = true;
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  const body = token === null ? { report } : { report, token };
  let text = "The answer could not be sent. Try again.";
  try {
    const answer = await fetch("answers", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    text = (await answer.json()).message;
    if (answer.status === 201) {
      $("preview").hidden = true;
      text = "Thank you. Only what you saw was sent, and it is kept.";
    }
  } catch {
    // what went wrong is no secret of ours to guess at
  }
  $("send").disabled = false;
  $("message").textContent = text;
}

async function start() {
  try {
    const found = await fetch("design.json");
    design = await found.json();
  } catch {
    $("message").textContent = "The survey could not be loaded. Try again later.";
    return;
  }
  if (globalThis.crypto?.getRandomValues === undefined) {
    $("message").textContent = "This browser has no secure source of chance.";
    return;
  }
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    report = disguise();
    preview();
  });
  $("send").addEventListener("click", send);
  $("back").addEventListener("click", () => {
    $("preview").hidden = true;
    $("form").hidden = false;
  });
  show();
}

start();
