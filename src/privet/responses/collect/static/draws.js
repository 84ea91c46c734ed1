// Exact draws from the browser's secure source. Chances are whole numbers, so that
// nothing is rounded: "keep of" means keep / of.
"use strict";

// A whole number from 0 to below n, all as likely.
function below(n) {
  const bits = (n - 1n).toString(2).length;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  const mask = (1n << BigInt(bits)) - 1n;
  for (;;) {
    crypto.getRandomValues(bytes);
    let number = 0n;
    for (const byte of bytes) number = (number << 8n) | BigInt(byte);
    number &= mask;
    if (number < n) return number;
  }
}

function happens(part, of) {
  return below(BigInt(of)) < BigInt(part);
}

// One of several outcomes whose chances are in the proportion of whole numbers.
function choose(parts) {
  const numbers = parts.map(BigInt);
  let left = below(numbers.reduce((a, b) => a + b, 0n));
  for (let i = 0; i < numbers.length; i += 1) {
    if (left < numbers[i]) return i;
    left -= numbers[i];
  }
  throw new Error("chances must sum up");
}

function packed(codes, sizes) {
  return codes.reduce((whole, code, i) => whole * sizes[i] + code, 0);
}

function unpacked(whole, sizes) {
  const codes = [];
  for (let i = sizes.length - 1; i >= 0; i -= 1) {
    codes.unshift(whole % sizes[i]);
    whole = Math.floor(whole / sizes[i]);
  }
  return codes;
}

// The report of one group: codes in, codes out.
function disguised(group, codes, sizes) {
  const size = sizes.reduce((a, b) => a * b, 1);
  const whole = packed(codes, sizes);
  switch (group.kind) {
    case "public":
      return codes;
    case "flip":
      return happens(group.keep, group.of) ? codes : codes.map((c) => 1 - c);
    case "even": {
      if (happens(group.keep, group.of)) return codes;
      const step = 1 + Number(below(BigInt(size - 1)));
      return unpacked((whole + step) % size, sizes);
    }
    case "replace":
      if (happens(group.keep, group.of)) return codes;
      return unpacked(choose(group.instead), sizes);
    case "matrix":
      return unpacked(choose(group.columns_of[whole]), sizes);
    default:
      throw new Error("unknown kind of group");
  }
}

// How often a group's answers are sent as they are; for the first of a list, and for
// reading only.
function stays(group) {
  const share = (part, of) => Number((1000000n * BigInt(part)) / BigInt(of)) / 1e6;
  const among = (parts) => share(parts[0], parts.map(BigInt).reduce((a, b) => a + b));
  switch (group.kind) {
    case "public":
      return 1;
    case "replace": {
      const keep = share(group.keep, group.of);
      return keep + (1 - keep) * among(group.instead);
    }
    case "matrix":
      return among(group.columns_of[0]);
    default:
      return share(group.keep, group.of);
  }
}
