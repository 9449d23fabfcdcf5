// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The page of the inspector. Texts from exchanges become text nodes only, so no response can run code here.
"use strict";

const rowHeight = 26;
/** The page forgets the oldest past this. */
const exchangeCount = 20000;
const phases = {
  waiting: "waiting for a connection", nameLookup: "name lookup", connecting: "connect", tlsHandshake: "TLS handshake",
  sending: "sending", responseWait: "waiting for the response", receiving: "receiving",
};
const byID = (id) => document.getElementById(id);
const list = byID("list"), rows = byID("rows"), detail = byID("detail");

/** All exchanges by number, and the calls in the order in which they began. */
const exchanges = new Map();
const calls = new Map();
/** The numbers of the exchanges that are shown, in the order of the rows. */
let shown = [];
let selected = null;
let isDue = false;

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function milliseconds(time) {
  return time >= 1000 ? (time / 1000).toFixed(2) + " s" : time >= 10 ? time.toFixed(0) + " ms" : time.toFixed(1) + " ms";
}

function isFailed(exchange) {
  return exchange.state === "failed" || exchange.status >= 400;
}

// --- List

function take(exchange) {
  if (!exchanges.has(exchange.number)) {
    if (!calls.has(exchange.call)) calls.set(exchange.call, []);
    calls.get(exchange.call).push(exchange.number);
  }
  exchanges.set(exchange.number, exchange);
  while (exchanges.size > exchangeCount) forget(exchanges.values().next().value);
}

function forget(exchange) {
  exchanges.delete(exchange.number);
  const rest = calls.get(exchange.call).filter((number) => number !== exchange.number);
  if (rest.length) calls.set(exchange.call, rest); else calls.delete(exchange.call);
}

function isShown(numbers) {
  const filter = byID("filter").value;
  const members = numbers.map((number) => exchanges.get(number));
  const passes = {
    all: () => true,
    failed: () => members.some(isFailed),
    retried: () => members.length > 1,
    running: () => members.some((exchange) => exchange.state === "running"),
    slow: () => members.some((exchange) => exchange.elapsed >= 1000),
  }[filter]();
  const words = byID("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  return passes && words.every((word) => members.some((exchange) =>
    [exchange.method, exchange.url, exchange.route, exchange.status, exchange.state, exchange.failure]
      .some((text) => text !== undefined && text !== null && String(text).toLowerCase().includes(word))));
}

function arrange() {
  shown = [];
  for (const numbers of calls.values()) if (isShown(numbers)) shown.push(...numbers);
  byID("count").textContent = `${shown.length} of ${exchanges.size} exchanges`;
  document.body.dataset.count = exchanges.size;
  draw();
}

/** Draws the rows that can be seen, and no others. */
function draw() {
  rows.style.height = shown.length * rowHeight + "px";
  const count = Math.ceil(list.clientHeight / rowHeight) + 10;
  // The scroll position may be past the end of the shorter list.
  const first = Math.max(Math.min(Math.floor(list.scrollTop / rowHeight) - 5, shown.length - count), 0);
  const last = Math.min(first + count, shown.length);
  const made = [];
  for (let index = first; index < last; index += 1) made.push(row(exchanges.get(shown[index]), index));
  rows.replaceChildren(...made);
  const active = made.find((row) => row.getAttribute("aria-selected") === "true");
  if (active) list.setAttribute("aria-activedescendant", active.id); else list.removeAttribute("aria-activedescendant");
}

function row(exchange, index) {
  const made = element("div", null, "row");
  const numbers = calls.get(exchange.call);
  if (numbers[0] !== exchange.number) made.classList.add("child");
  made.id = "exchange-" + exchange.number;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", String(exchange.number === selected));
  made.setAttribute("aria-setsize", String(shown.length));
  made.setAttribute("aria-posinset", String(index + 1));
  made.style.top = index * rowHeight + "px";
  const status = exchange.status ?? exchange.state;
  made.append(
    element("span", exchange.method),
    element("span", status, isFailed(exchange) ? "bad" : exchange.state === "running" ? "faint" : "good"),
    address(exchange),
    element("span", milliseconds(exchange.elapsed), "time"),
    bar(exchange, numbers));
  made.addEventListener("click", () => select(exchange.number));
  return made;
}

/** Path and query, which differ most, before the host. */
function address(exchange) {
  const parts = /^[a-z]+:\/\/([^/?#]*)(.*)$/i.exec(exchange.url) ?? [null, "", exchange.url];
  const made = element("span", (exchange.attempt > 1 ? `attempt ${exchange.attempt}: ` : "") + (parts[2] || "/"), "url");
  made.append(" ", element("span", parts[1], "faint"));
  made.title = exchange.url;
  return made;
}

/** The phases on the scale of the whole call. */
function bar(exchange, numbers) {
  const made = element("span", null, "bar");
  const members = numbers.map((number) => exchanges.get(number));
  const start = Math.min(...members.map((member) => member.started));
  const end = Math.max(...members.map((member) => member.started + member.elapsed));
  const scale = 100 / Math.max(end - start, 0.001);
  let left = exchange.started - start;
  const parts = exchange.phases.length ? exchange.phases : [{ name: "other", duration: exchange.elapsed }];
  for (const phase of parts) {
    const part = element("i", null, phase.name);
    part.title = `${phases[phase.name] ?? "whole exchange"}: ${milliseconds(phase.duration)}`;
    part.style.left = Math.min(left * scale, 99.5) + "%";
    part.style.width = Math.min(phase.duration * scale, 100 - Math.min(left * scale, 99.5)) + "%";
    if (phase.duration > 0) made.append(part);
    left += phase.duration;
  }
  return made;
}

function schedule() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; arrange(); });
}

// --- One exchange

async function select(number) {
  selected = number;
  draw();
  const response = await fetch("exchanges/" + number);
  if (number !== selected) return;
  if (!response.ok) {
    detail.replaceChildren(element("p", "This exchange is no longer kept."));
  } else {
    show(await response.json());
  }
  detail.hidden = false;
  detail.dataset.number = number;
}

function show(exchange) {
  const summary = exchange.summary;
  const buttons = element("div", null, "buttons");
  buttons.append(copyButton("Copy as cURL", exchange.curl), copyButton("Copy as canned response", exchange.canned));
  const parts = [
    element("h2", `${summary.method} ${summary.url}`), buttons,
    table(exchange.facts),
    element("h2", "Times"),
    table(summary.phases.map((phase) => ({ name: phases[phase.name], value: milliseconds(phase.duration) }))
      .concat({ name: "whole exchange", value: milliseconds(summary.elapsed) })),
    element("h2", "Request"), table(exchange.requestHeaders), ...body(exchange.requestBody),
    element("h2", summary.status ? `Response ${summary.status}` : "Response"),
    table(exchange.responseHeaders), ...body(exchange.responseBody),
  ];
  detail.replaceChildren(...parts);
}

function copyButton(title, text) {
  const button = element("button", title);
  button.type = "button";
  button.dataset.text = text;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = title; }, 1000);
  });
  return button;
}

function table(fields) {
  const made = element("table");
  for (const field of fields) {
    const line = made.insertRow();
    const name = element("th", field.name);
    name.scope = "row";
    line.append(name, element("td", field.value));
  }
  return made;
}

function body(content) {
  if (!content || content.byteCount === 0) return [];
  const parts = [];
  if (content.text === undefined || content.text === null) {
    parts.push(element("p", `${content.byteCount} bytes of ${content.mediaType ?? "an unknown type"}`, "faint"));
  } else if (content.text) {
    parts.push(element("pre", content.isTruncated ? content.text : prettyJSON(content.text)));
  }
  if (content.isTruncated) {
    parts.push(element("p", `The body has ${content.byteCount ?? "an unknown number of"} bytes; this is its beginning.`, "faint"));
  }
  return parts;
}

/** JSON with one value per line. The numbers' digits stay as they are, so it is not parsed and written again. */
function prettyJSON(text) {
  try { JSON.parse(text); } catch { return text; }
  let pretty = "", depth = 0;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+/g) ?? [];
  tokens.forEach((token, index) => {
    const line = () => "\n" + "  ".repeat(depth);
    if (token === "{" || token === "[") {
      depth += 1;
      pretty += token;
      if (tokens[index + 1] !== "}" && tokens[index + 1] !== "]") pretty += line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      if (tokens[index - 1] !== "{" && tokens[index - 1] !== "[") pretty += line();
      pretty += token;
    } else if (token === ",") {
      pretty += token + line();
    } else {
      pretty += token === ":" ? ": " : token;
    }
  });
  return pretty;
}

// --- Keyboard

function move(distance) {
  const index = shown.indexOf(selected);
  // Without a selection, the arrow keys start at the first row.
  const target = index < 0 && Number.isFinite(distance) ? 0 : index + distance;
  const next = shown[Math.max(0, Math.min(shown.length - 1, target))];
  if (next === undefined) return;
  const top = shown.indexOf(next) * rowHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
  select(next);
}

list.addEventListener("keydown", (event) => {
  const page = Math.max(Math.floor(list.clientHeight / rowHeight) - 1, 1);
  const distance = {
    ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity,
  }[event.key];
  if (distance !== undefined) {
    event.preventDefault();
    move(distance);
  } else if (event.key === "Enter" && !detail.hidden) {
    detail.focus();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== byID("search")) {
    event.preventDefault();
    byID("search").focus();
  } else if (event.key === "Escape") {
    if (document.activeElement === byID("search")) { byID("search").value = ""; arrange(); }
    else { detail.hidden = true; selected = null; draw(); }
    list.focus();
  }
});

// --- Start

for (const [name, title] of Object.entries(phases)) {
  const item = element("span", null, "legend");
  item.append(element("i", null, name), title);
  byID("legend").append(item);
}
list.addEventListener("scroll", draw, { passive: true });
addEventListener("resize", draw);
byID("search").addEventListener("input", arrange);
byID("filter").addEventListener("change", arrange);

const source = new EventSource("changes");
source.onopen = () => { byID("connection").textContent = ""; };
source.onerror = () => { byID("connection").textContent = "The program does not answer."; };
source.onmessage = (event) => {
  for (const exchange of JSON.parse(event.data)) take(exchange);
  schedule();
};
