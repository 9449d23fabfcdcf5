// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The page of the inspector. Texts from exchanges become text nodes only, so no response can run code here.
"use strict";

const rowHeight = 26;
/** The page forgets the oldest past this. */
const exchangeCount = 20000;
/** The time between two looks at the running exchanges, in milliseconds. */
const tickTime = 250;
const phases = {
  waiting: "waiting for a connection", nameLookup: "name lookup", connecting: "connect", tlsHandshake: "TLS handshake",
  sending: "sending", responseWait: "waiting for the response", receiving: "receiving",
};
const byID = (id) => document.getElementById(id);
const list = byID("list"), rows = byID("rows"), detail = byID("detail");

/** All exchanges by number. */
const exchanges = new Map();
/** The calls by ID, in the order in which they began. */
const calls = new Map();
/** The running exchanges. */
const running = new Set();
/** The calls that have changed since the last frame. */
const changed = new Set();
/** The exchanges that are shown, in the order of the rows. */
let shown = [];
let selected = null;
let isDue = false;
let timer = null;
let callCount = 0;

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Changes an element's text only if it is another one, so that an element under the pointer stays. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function milliseconds(time) {
  return time >= 1000 ? (time / 1000).toFixed(2) + " s" : time >= 10 ? time.toFixed(0) + " ms" : time.toFixed(1) + " ms";
}

function isFailed(exchange) {
  return exchange.state === "failed" || exchange.status >= 400;
}

/** The time from the start to the end, or until now. */
function elapsed(exchange) {
  return exchange.state === "running" ? exchange.elapsed + performance.now() - exchange.received : exchange.elapsed;
}

// --- Exchanges and calls

function take(news) {
  news.received = performance.now();
  news.text = null;
  const exchange = exchanges.get(news.number) ?? begin(news);
  Object.assign(exchange, news);
  const record = exchange.record;
  if ([301, 302, 303, 307, 308].includes(exchange.status) && exchange.hop === record.hop) record.redirect = exchange.status;
  if (exchange.state === "running") running.add(exchange); else running.delete(exchange);
  changed.add(record);
  while (exchanges.size > exchangeCount) forget(exchanges.values().next().value);
}

/** Puts a new exchange into the tree of its call: the hops of redirects are below the first, and attempts below their hop. */
function begin(exchange) {
  if (!calls.has(exchange.call)) {
    callCount += 1;
    calls.set(exchange.call, { order: callCount, members: [], rowCount: 0, isRearranged: false, hop: 1, redirect: null });
  }
  const record = calls.get(exchange.call);
  if (exchange.attempt === 1 && record.redirect) {
    exchange.link = `${record.redirect} → `;
    exchange.level = 1;
    record.hop += 1;
    record.redirect = null;
  } else {
    exchange.link = exchange.attempt > 1 ? `attempt ${exchange.attempt}: ` : record.members.length ? "again: " : "";
    exchange.level = record.members.length ? Math.min(record.hop, 2) : 0;
  }
  exchange.hop = record.hop;
  exchange.record = record;
  record.members.push(exchange);
  record.isRearranged = true;
  exchanges.set(exchange.number, exchange);
  return exchange;
}

function forget(exchange) {
  const record = exchange.record;
  exchanges.delete(exchange.number);
  running.delete(exchange);
  record.members.splice(record.members.indexOf(exchange), 1);
  record.isRearranged = true;
  if (!record.members.length) calls.delete(exchange.call);
  changed.add(record);
}

// --- Filter

const filters = {
  all: () => true,
  failed: (members) => members.some(isFailed),
  retried: (members) => members.length > 1,
  running: (members) => members.some((exchange) => exchange.state === "running"),
  slow: (members) => members.some((exchange) => elapsed(exchange) >= 1000),
};

function passes(record) {
  const words = byID("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  return filters[byID("filter").value](record.members)
    && words.every((word) => record.members.some((exchange) => searchText(exchange).includes(word)));
}

function searchText(exchange) {
  exchange.text ??= [exchange.method, exchange.url, exchange.route, exchange.status, exchange.state, exchange.failure]
    .filter((text) => text !== undefined && text !== null).join("\n").toLowerCase();
  return exchange.text;
}

/** Applies the filter to all calls. */
function filterAll() {
  shown = [];
  for (const record of calls.values()) {
    record.rowCount = passes(record) ? record.members.length : 0;
    record.isRearranged = false;
    if (record.rowCount) shown.push(...record.members);
  }
  changed.clear();
  update();
}

/** Applies the filter to the calls that have changed, so the work of a frame does not grow with the list. */
function filterChanged() {
  for (const record of changed) {
    const count = record.members.length && passes(record) ? record.members.length : 0;
    if (count === record.rowCount && !(count && record.isRearranged)) continue;
    shown.splice(firstRow(record), record.rowCount, ...(count ? record.members : []));
    record.rowCount = count;
    record.isRearranged = false;
  }
  changed.clear();
  update();
}

/** The index of the first row of a call, or where it would be. */
function firstRow(record) {
  let low = 0, high = shown.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shown[middle].record.order < record.order) low = middle + 1; else high = middle;
  }
  return low;
}

function update() {
  byID("count").textContent = `${shown.length} of ${exchanges.size} exchanges`;
  document.body.dataset.count = exchanges.size;
  if (running.size && timer === null) timer = setInterval(tick, tickTime);
  if (!running.size && timer !== null) { clearInterval(timer); timer = null; }
  draw();
}

/** The time passes for running exchanges, although the program sends nothing. */
function tick() {
  for (const exchange of running) changed.add(exchange.record);
  schedule();
}

function schedule() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; filterChanged(); });
}

// --- Rows

/** The rows in the document, by their exchange's number. */
const drawn = new Map();

/** Draws the rows that can be seen, and no others. */
function draw() {
  rows.style.height = shown.length * rowHeight + "px";
  const count = Math.ceil(list.clientHeight / rowHeight) + 10;
  // The scroll position may be past the end of the shorter list.
  const first = Math.max(Math.min(Math.floor(list.scrollTop / rowHeight) - 5, shown.length - count), 0);
  const last = Math.min(first + count, shown.length);
  const top = Math.floor(list.scrollTop / rowHeight);
  const axis = timeAxis(shown.slice(Math.max(top, first), Math.ceil((list.scrollTop + list.clientHeight) / rowHeight)));
  const numbers = new Set(shown.slice(first, last).map((exchange) => exchange.number));
  for (const [number, made] of drawn) {
    if (numbers.has(number)) continue;
    made.remove();
    drawn.delete(number);
  }
  for (let index = first; index < last; index += 1) {
    const exchange = shown[index];
    if (!drawn.has(exchange.number)) drawn.set(exchange.number, row(exchange.number));
    const made = drawn.get(exchange.number);
    // A row that stays is not moved, because a click on it would be lost.
    if (rows.children[index - first] !== made) rows.insertBefore(made, rows.children[index - first] ?? null);
    fill(made, exchange, index, axis);
  }
  showAxis(axis);
  if (selected !== null && drawn.has(selected)) list.setAttribute("aria-activedescendant", "exchange-" + selected);
  else list.removeAttribute("aria-activedescendant");
  const now = byID("elapsed");
  if (now && exchanges.has(selected)) write(now, milliseconds(elapsed(exchanges.get(selected))));
}

function row(number) {
  const made = element("div", null, "row");
  made.id = "exchange-" + number;
  made.setAttribute("role", "treeitem");
  const url = element("span", null, "url");
  url.append(element("span", null, "link"), element("span", null, "path"), " ", element("span", null, "faint"));
  made.append(
    element("span"), element("span"), url, element("span", null, "time"), element("span", null, "bar"));
  made.addEventListener("click", () => select(number));
  return made;
}

function fill(made, exchange, index, axis) {
  const [method, status, url, time, bar] = made.children;
  made.classList.toggle("child", exchange.level > 0);
  made.setAttribute("aria-level", exchange.level + 1);
  made.setAttribute("aria-selected", String(exchange.number === selected));
  // The number of siblings is not counted.
  made.setAttribute("aria-setsize", "-1");
  made.setAttribute("aria-posinset", String(index + 1));
  made.style.top = index * rowHeight + "px";
  write(method, exchange.method);
  write(status, String(exchange.status ?? exchange.state));
  status.className = isFailed(exchange) ? "bad" : exchange.state === "running" ? "faint" : "good";
  // Path and query, which differ most, are before the host.
  const parts = /^[a-z]+:\/\/([^/?#]*)(.*)$/i.exec(exchange.url) ?? [null, "", exchange.url];
  write(url.children[0], exchange.link);
  write(url.children[1], parts[2] || "/");
  write(url.children[2], parts[1]);
  url.style.paddingLeft = exchange.level * 1.5 + "em";
  url.title = exchange.url;
  write(time, milliseconds(elapsed(exchange)));
  fillBar(bar, exchange, axis);
}

/** The phases of an exchange; the rest of a running exchange is one more. */
function barParts(exchange) {
  const parts = exchange.phases.filter((phase) => phase.duration > 0);
  const rest = elapsed(exchange) - parts.reduce((sum, phase) => sum + phase.duration, 0);
  if (!parts.length || exchange.state === "running" && rest > 0) {
    parts.push({ name: exchange.status && exchange.state === "running" ? "receiving" : "other", duration: Math.max(rest, 0) });
  }
  return parts;
}

function fillBar(bar, exchange, axis) {
  const parts = barParts(exchange);
  let time = exchange.started;
  const places = parts.map((part) => {
    const left = Math.min(axis.position(time), 99.5);
    time += part.duration;
    return { name: part.name, left: left.toFixed(2), width: Math.max(Math.min(part.duration * axis.scale, 100 - left), 0).toFixed(2) };
  });
  const layout = JSON.stringify(places);
  if (bar.layout === layout) return;
  bar.layout = layout;
  bar.title = parts.map((part) => `${phases[part.name] ?? "whole exchange"}: ${milliseconds(part.duration)}`).join("\n");
  bar.replaceChildren(...places.map((place) => {
    const made = element("i", null, place.name);
    made.style.left = place.left + "%";
    made.style.width = place.width + "%";
    return made;
  }));
}

// --- Time axis

/** The width of a time in which nothing ran, as a part of the time in which something ran. */
const idleShare = 0.05;

/**
 * The time axis of all bars: from the first start to the last end of the rows that can be seen.
 *
 * A long time in which none of them ran is shortened, so that the bars stay readable if the calls are minutes apart.
 */
function timeAxis(visible) {
  const spans = new Map();
  for (const exchange of visible) {
    const span = spans.get(exchange.record) ?? { start: Infinity, end: -Infinity };
    span.start = Math.min(span.start, exchange.started);
    span.end = Math.max(span.end, exchange.started + elapsed(exchange));
    spans.set(exchange.record, span);
  }
  // A call is busy also between its attempts.
  const busy = [];
  for (const span of [...spans.values()].sort((one, other) => one.start - other.start)) {
    const last = busy.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end); else busy.push(span);
  }
  const idle = busy.reduce((sum, span) => sum + span.end - span.start, 0) * idleShare;
  const gaps = [];
  let length = 0;
  busy.forEach((span, index) => {
    const pause = index ? span.start - busy[index - 1].end : 0;
    if (pause > idle) gaps.push({ place: length + idle / 2, duration: pause });
    length += Math.min(pause, idle);
    span.offset = length;
    length += span.end - span.start;
  });
  const scale = 100 / Math.max(length, 0.001);
  return {
    length, scale,
    gaps: gaps.map((gap) => ({ left: gap.place * scale, duration: gap.duration })),
    /** The place of a time, in percent of the width; rows that are just out of sight may be outside. */
    position(time) {
      const span = busy.findLast((span) => span.start <= time) ?? busy[0];
      return span ? Math.max((span.offset + time - span.start) * scale, 0) : 0;
    },
  };
}

function showAxis(axis) {
  write(byID("axis-end"), shown.length ? milliseconds(axis.length) : "");
  const layout = JSON.stringify(axis.gaps);
  const gaps = byID("gaps");
  if (gaps.layout === layout) return;
  gaps.layout = layout;
  gaps.replaceChildren(...axis.gaps.map((gap) => {
    const made = element("i", "⋯");
    made.title = `${milliseconds(gap.duration)} without an exchange`;
    made.style.left = gap.left + "%";
    return made;
  }));
}

// --- One exchange

let isLoading = false;
let isStale = false;
/** The answer that the detail shows. */
let loaded = null;

function select(number) {
  selected = number;
  draw();
  load();
}

/** Shows the selected exchange, and asks for it again if it has changed meanwhile. */
async function load() {
  isStale = true;
  if (isLoading) return;
  isLoading = true;
  try {
    while (isStale && selected !== null) {
      isStale = false;
      const number = selected;
      const text = await fetch("exchanges/" + number)
        .then((response) => response.ok ? response.text() : "gone", () => "no answer");
      if (number !== selected) { isStale = true; continue; }
      const isAgain = detail.dataset.number === String(number);
      detail.dataset.number = number;
      detail.hidden = false;
      if (text !== loaded || !isAgain) {
        loaded = text;
        if (text === "gone") detail.replaceChildren(element("p", "This exchange is no longer kept."));
        else if (text === "no answer") detail.replaceChildren(element("p", "The program does not answer."));
        else show(JSON.parse(text), isAgain);
      }
      // A body that arrives in many pieces changes often.
      await new Promise((done) => setTimeout(done, 50));
    }
  } finally {
    isLoading = false;
  }
}

/** Shows an exchange; if it is already shown, focus and scroll positions stay. */
function show(exchange, isAgain) {
  const focused = isAgain ? [...detail.querySelectorAll("button")].indexOf(document.activeElement) : -1;
  const tops = isAgain ? [...detail.querySelectorAll("pre")].map((text) => text.scrollTop) : [];
  const top = isAgain ? detail.scrollTop : 0;
  const summary = exchange.summary;
  const buttons = element("div", null, "buttons");
  buttons.append(copyButton("Copy as cURL", exchange.curl), copyButton("Copy as canned response", exchange.canned));
  const times = table(summary.phases.map((phase) => ({ name: phases[phase.name], value: milliseconds(phase.duration) }))
    .concat({ name: "whole exchange", value: milliseconds(summary.elapsed) }));
  if (summary.state === "running") times.querySelector("tr:last-child td").id = "elapsed";
  const parts = [
    element("h2", `${summary.method} ${summary.url}`), buttons,
    table(exchange.facts),
    element("h2", "Times"), times,
    element("h2", "Request"), table(exchange.requestHeaders), ...body(exchange.requestBody),
    element("h2", summary.status ? `Response ${summary.status}` : "Response"),
    table(exchange.responseHeaders), ...body(exchange.responseBody),
  ];
  detail.replaceChildren(...parts);
  detail.querySelectorAll("button")[focused]?.focus();
  detail.querySelectorAll("pre").forEach((text, index) => { text.scrollTop = tops[index] ?? 0; });
  detail.scrollTop = top;
}

function copyButton(title, text) {
  const button = element("button", title);
  button.type = "button";
  button.dataset.text = text;
  button.addEventListener("click", async () => {
    button.textContent = await navigator.clipboard.writeText(text).then(() => "Copied", () => "The browser refused");
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
  const index = shown.findIndex((exchange) => exchange.number === selected);
  // Without a selection, the arrow keys start at the first row.
  const target = index < 0 && Number.isFinite(distance) ? 0 : index + distance;
  const place = Math.max(0, Math.min(shown.length - 1, target));
  if (!shown.length) return;
  const top = place * rowHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
  select(shown[place].number);
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
    if (document.activeElement === byID("search")) { byID("search").value = ""; filterAll(); }
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
byID("search").addEventListener("input", filterAll);
byID("filter").addEventListener("change", filterAll);

const source = new EventSource("changes");
source.onopen = () => { byID("connection").textContent = ""; };
source.onerror = () => { byID("connection").textContent = "The program does not answer."; };
source.onmessage = (event) => {
  const news = JSON.parse(event.data);
  for (const exchange of news) take(exchange);
  schedule();
  if (news.some((exchange) => exchange.number === selected)) load();
};
