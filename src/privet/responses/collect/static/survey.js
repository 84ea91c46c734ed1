// The page: asks, disguises here when it is sent, sends only that, and then shows it.
"use strict";

const $ = (id) => document.getElementById(id);
let design = null;
let outbox = null;

const INSECURE =
  "This page did not come over a secure connection (HTTPS), so somebody on the way " +
  "could have changed it. Nothing is asked here.";

const SENT_AS_IT_IS = "Sent as it is, not disguised.";

const REMEMBERED =
  "This device remembers what was sent, so that it is never drawn again; your " +
  "answers themselves are not on it.";
const NOT_REMEMBERED =
  "This browser lets nothing be remembered, neither your answers nor what was sent.";

function element(name, text, more = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, more);
}

function question(name) {
  return design.questions.find((q) => q.name === name);
}

// Exactly one part of the page, or none.
function show(part) {
  for (const id of ["form", "waiting", "done"]) $(id).hidden = id !== part;
  if (part !== "form") $("questions").replaceChildren();
  if (part !== "form" && part !== null) $(part).querySelector("h2").focus();
}

function say(text) {
  $("message").textContent = text;
}

// Asking -----------------------------------------------------------------------------

function field(q, number) {
  const box = element("fieldset");
  box.append(element("legend", q.ask));
  if (isPublic(q)) box.append(element("p", SENT_AS_IT_IS, { className: "small" }));
  const common = { name: `q${number}`, required: true, autocomplete: "off" };
  if (q.edges !== null) {
    const more = { ...common, type: "number", step: "any", ariaLabel: q.ask };
    box.append(element("input", undefined, more));
    return box;
  }
  q.values.forEach((value, code) => {
    const label = element("label");
    const more = { ...common, type: "radio", value: String(code) };
    label.append(element("input", undefined, more), element("span", value));
    box.append(label);
  });
  return box;
}

function isPublic(q) {
  const own = (g) => g.kind === "public" && g.columns.includes(q.name);
  return design.groups.some(own);
}

// With one_of, each person is asked what is public and one of the other groups, drawn
// here; no answer is known yet.
function asked() {
  if (!design.one_of) return design.groups;
  const secret = design.groups.filter((g) => g.kind !== "public");
  const name = `privet-asked:${design.survey}`;
  let drawn = Number(recall(name) ?? NaN);
  if (!Number.isInteger(drawn) || !(drawn in secret)) {
    drawn = Number(below(BigInt(secret.length)));
    remember(name, String(drawn));
  }
  const one = secret[drawn];
  return design.groups.filter((g) => g.kind === "public" || g === one);
}

function askQuestions() {
  const names = new Set(asked().flatMap((g) => g.columns));
  const fields = design.questions.map((q, i) => (names.has(q.name) ? field(q, i) : ""));
  $("questions").replaceChildren(...fields);
  $("except").hidden = !design.questions.some(isPublic);
  $("meaning").replaceChildren(...meanings());
  $("example").replaceChildren(
    ...asked().map((group) => element("li", example(group))),
  );
  show("form");
}

// What it tells ----------------------------------------------------------------------

function names(group) {
  return group.columns.map((c) => question(c).ask).join(" / ");
}

function sure(percent) {
  return percent > 99 ? "practically certain" : `${percent} %`;
}

function row(what, told) {
  const made = element("tr");
  const cells = told === null ? ["certain", "certain"] : [told.tenth, told.half].map(sure);
  made.append(element("th", what, { scope: "row" }));
  made.append(...cells.map((text) => element("td", text)));
  return made;
}

function heading(text) {
  const made = element("tr");
  made.append(element("th", text, { colSpan: 3, className: "part" }));
  return made;
}

// What the record's figure is about. Also of what is not asked, since answers hang
// together.
function whole(open) {
  if (!design.one_of) return open ? "of all that is disguised" : "of anything you answered";
  return "of what is disguised, and of questions you are not asked";
}

// The whole record first: answers that hang together tell about each other.
function meanings() {
  const hidden = asked().filter((g) => g.kind !== "public");
  const shown = asked().filter((g) => g.kind === "public");
  const rows = [];
  if (hidden.length > 0) {
    rows.push(heading("Somebody who knows how your answers hang together"));
    rows.push(row(whole(shown.length > 0), design.told));
  }
  // With one_of, the question asked may tell less than another would.
  const told = hidden.map((g) => JSON.stringify(g.told));
  if (hidden.length > 1 || told.some((t) => t !== JSON.stringify(design.told))) {
    rows.push(heading("Somebody to whom your other answers say nothing about it"));
    rows.push(...hidden.map((g) => row(names(g), g.told)));
  }
  if (shown.length > 0) {
    rows.push(heading("Sent as it is"));
    rows.push(...shown.map((g) => row(names(g), null)));
  }
  return rows;
}

// What becomes of a made-up answer, the first of the list.
function example(group) {
  if (group.kind === "public") return `${names(group)}: not disguised.`;
  const many = Math.round(1000 * stays(group));
  if (group.columns.length > 1) {
    return (
      `${names(group)}: of 1,000 people, about ${many} send what they answered; ` +
      "the others send other answers, drawn by chance."
    );
  }
  const value = question(group.columns[0]).values[0];
  return (
    `${names(group)} Of 1,000 people who answer “${value}”, about ${many} send ` +
    "just that; the others send another answer, drawn by chance."
  );
}

// Disguising and sending -------------------------------------------------------------

function code(given, q) {
  const number = given.get(`q${design.questions.indexOf(q)}`);
  if (q.edges === null) return Number(number);
  return q.edges.filter((edge) => Number(number) >= edge).length;
}

function disguise() {
  const given = new FormData($("form"));
  const made = Object.fromEntries(design.questions.map((q) => [q.name, null]));
  for (const group of asked()) {
    const questions = group.columns.map(question);
    const sizes = questions.map((q) => q.values.length);
    const codes = questions.map((q) => code(given, q));
    disguised(group, codes, sizes).forEach((c, i) => {
      made[group.columns[i]] = questions[i].values[c];
    });
  }
  return made;
}

function showReport(report) {
  const rows = Object.entries(report).filter(([, value]) => value !== null);
  $("sent").replaceChildren(
    ...rows.flatMap(([name, value]) => [
      element("dt", question(name).ask), element("dd", value),
    ]),
  );
  $("memory").textContent = outbox.lasts ? REMEMBERED : NOT_REMEMBERED;
  show("done");
}

async function post({ submission, report }) {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  const body = { submission, report, ...(token === null ? {} : { token }) };
  try {
    const answer = await fetch("answers", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      referrerPolicy: "no-referrer",
    });
    return { kept: answer.status === 201, text: (await answer.json()).message };
  } catch {
    return { kept: false, text: "No reply came. Try again." };
  }
}

// Sends what was drawn; what was sent is shown when it is kept, and not before.
async function send() {
  const buttons = [$("retry"), $("again")];
  for (const button of buttons) button.disabled = true;
  say("Sending …");
  const { kept, text } = await post(outbox.entry);
  for (const button of buttons) button.disabled = false;
  if (kept) outbox.confirm();
  if (outbox.entry.kept) showReport(outbox.entry.report);
  else show("waiting");
  say(kept ? "Thank you." : text);
}

async function submit(event) {
  event.preventDefault();
  await outbox.fill(disguise);
  forget(`privet-asked:${design.survey}`);
  show(null);
  await send();
}

function forgetReport() {
  outbox.clear();
  $("sent").replaceChildren();
  show(null);
  say("Forgotten. Reload the page to let somebody else answer.");
}

// Starting ---------------------------------------------------------------------------

function begin() {
  const entry = outbox.entry;
  if (entry === null) askQuestions();
  else if (entry.kept) showReport(entry.report);
  else show("waiting");
}

function listen() {
  $("form").addEventListener("submit", submit);
  $("retry").addEventListener("click", send);
  $("again").addEventListener("click", send);
  $("forget").addEventListener("click", forgetReport);
  // A page that is left is not put aside with answers in it.
  addEventListener("pagehide", () => $("questions").replaceChildren());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}

async function start() {
  if (!globalThis.isSecureContext || globalThis.crypto?.getRandomValues === undefined) {
    say(INSECURE);
    return;
  }
  forgetAnswers();
  try {
    const found = await fetch("design.json");
    design = await found.json();
    outbox = new Outbox(design.survey);
  } catch {
    say("The survey could not be loaded. Try again later.");
    return;
  }
  document.title = design.title;
  $("title").textContent = design.title;
  listen();
  begin();
}

start();
