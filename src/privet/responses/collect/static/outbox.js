// What stays on this device: the report as it is sent, the random key of the
// submission, and whether the reply came. The service has all of it, too, so that the
// device tells nobody more than the service knows. No answer is ever stored, nor
// anything it was drawn from.
"use strict";

const visit = new Map(); // where nothing may be stored, this visit must do

function remember(name, value) {
  visit.set(name, value);
  try {
    localStorage.setItem(name, value);
  } catch {
    // private windows and full disks
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name) ?? visit.get(name) ?? null;
  } catch {
    return visit.get(name) ?? null;
  }
}

function forget(name) {
  visit.delete(name);
  try {
    localStorage.removeItem(name);
  } catch {
    // nothing was stored
  }
}

// Earlier versions kept answers as part of a name; nothing of that stays.
function forgetAnswers() {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith("privet:")) localStorage.removeItem(name);
    }
  } catch {
    // nothing was stored
  }
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// One page of this survey at a time: two of them do not draw twice.
function alone(name, work) {
  if (navigator.locks === undefined) return work();
  return navigator.locks.request(name, work);
}

// The report of a survey: drawn once, sent as often as needed, always the same.
class Outbox {
  constructor(survey) {
    this.name = `privet-report:${survey}`;
  }

  get entry() {
    const text = recall(this.name);
    return text === null ? null : JSON.parse(text);
  }

  get lasts() {
    try {
      return localStorage.getItem(this.name) !== null;
    } catch {
      return false;
    }
  }

  // The report that was drawn before, or else a new one.
  fill(draw) {
    return alone(this.name, () => {
      if (this.entry === null) {
        this.#write({ submission: newKey(), report: draw(), kept: false });
      }
      return this.entry;
    });
  }

  confirm() {
    this.#write({ ...this.entry, kept: true });
  }

  clear() {
    forget(this.name);
  }

  #write(entry) {
    remember(this.name, JSON.stringify(entry));
  }
}
